import { inject, provide, type InjectionKey } from 'vue'

/** A file of a task, to show or save. */
interface LoadedFile {
  readonly name: string
  /** Whether it may be shown inline. */
  readonly isImage: boolean
  /** An object URL of this page. */
  readonly url: string
}

/** The service's functions that Markdown editors and texts use. */
export interface EditorTools {
  /** Loads a file; null if it was deleted. */
  load(attachmentId: string): Promise<LoadedFile | null>
  /** Uploads a file and returns its Markdown. Rejects with an error to show if it was refused. */
  readonly upload?: (file: File) => Promise<string>
  /** Finds paths of the repository that match the query. */
  readonly findPaths?: (query: string) => Promise<readonly string[]>
}

const key: InjectionKey<EditorTools> = Symbol('editor tools')

/** Provides the tools of one task or project to all components below. */
export const provideEditorTools = (tools: EditorTools): void => provide(key, tools)
export const useEditorTools = (): EditorTools | null => inject(key, null)
