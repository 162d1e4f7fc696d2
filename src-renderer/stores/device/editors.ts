import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'
import type { FolderTool } from '../../../src-shared/contract/desktop.ts'
import { useDesktop } from './desktop.ts'
import { useToasts } from '../base/toasts.ts'

const key = 'copse.editor'

/** The programs of this machine that open a worktree, and the editor that the person used last. */
export const useEditors = defineStore('editors', () => {
  const desktop = useDesktop()
  const toasts = useToasts()
  const tools = shallowRef<readonly FolderTool[]>([])
  const last = ref(localStorage.getItem(key))
  const editor = computed(() => {
    const all = tools.value.filter(({ files }) => files)
    return all.find(({ id }) => id === last.value) ?? all[0] ?? null
  })

  async function tried(tool: FolderTool, work: () => Promise<boolean>, failed: string): Promise<void> {
    try {
      if (!(await work())) return toasts.warn(failed)
      if (!tool.files) return
      last.value = tool.id
      localStorage.setItem(key, tool.id)
    } catch (error) {
      toasts.refused(error, failed)
    }
  }
  return {
    tools,
    /** The one in which files are opened; null in a browser, which may be on another machine, and where none is found. */
    editor,
    load: async (): Promise<void> => {
      tools.value = await desktop.folderTools()
    },
    openFolder: (tool: FolderTool, path: string): Promise<void> =>
      tried(
        tool,
        () => desktop.openFolder(tool.id, path),
        `${tool.name} could not be opened there. Copy the path instead.`,
      ),
    /** Shows a line of a task's file in the editor. */
    openAtLine: async (taskId: string, path: string, line: number): Promise<void> => {
      const tool = editor.value
      if (tool === null) return
      const failed = `${path} could not be opened in ${tool.name}: it may be gone from the worktree.`
      await tried(tool, () => desktop.openFile(tool.id, taskId, path, line), failed)
    },
    /** Puts a line of a file on the clipboard, as terminals and editors take it. */
    copyPlace: async (path: string, line: number): Promise<void> => {
      await navigator.clipboard.writeText(`${path}:${line}`)
      toasts.done(`Copied ${path}:${line}`)
    },
  }
})
