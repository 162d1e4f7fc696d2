import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'
import type { FolderTool } from '../../../src-shared/contract/desktop.ts'
import { useDesktop } from './desktop.ts'
import { useToasts } from '../base/toasts.ts'

const key = 'copse.editor'

/** The programs on this machine that can open a worktree, and the last used editor. */
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
    /** The editor that opens files. null if none was found and in a browser, which may run on another machine. */
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
    /** Opens a file of a task in the editor at a line. */
    openAtLine: async (taskId: string, path: string, line: number): Promise<void> => {
      const tool = editor.value
      if (tool === null) return
      const failed = `${path} could not be opened in ${tool.name}: it may be gone from the worktree.`
      await tried(tool, () => desktop.openFile(tool.id, taskId, path, line), failed)
    },
    /** Copies `path:line`, the form that terminals and editors accept. */
    copyPlace: async (path: string, line: number): Promise<void> => {
      await navigator.clipboard.writeText(`${path}:${line}`)
      toasts.done(`Copied ${path}:${line}`)
    },
  }
})
