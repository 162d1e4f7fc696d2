import { inject, provide, type InjectionKey } from 'vue'

/** A file of a task, to be shown or saved. */
interface LoadedFile {
  readonly name: string
  /** It may be shown in its place. */
  readonly isImage: boolean
  /** An address within the page. */
  readonly url: string
}

/** What editors and texts of Markdown need of the service. */
export interface EditorTools {
  /** Null for one that is gone. */
  load(attachmentId: string): Promise<LoadedFile | null>
  /** The Markdown that names the file. Rejects with what to say where it was not taken. */
  readonly upload?: (file: File) => Promise<string>
  /** Paths of the repository that fit what is typed. */
  readonly findPaths?: (query: string) => Promise<readonly string[]>
}

const key: InjectionKey<EditorTools> = Symbol('editor tools')

/** For everything below: which task or project it is about. */
export const provideEditorTools = (tools: EditorTools): void => provide(key, tools)
export const useEditorTools = (): EditorTools | null => inject(key, null)
