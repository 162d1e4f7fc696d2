import { defineStore } from 'pinia'
import { shallowRef } from 'vue'
import type {
  DesktopChange,
  DesktopRequest,
  DesktopState,
  FolderTool,
  PagePreferences,
  UpdateStep,
} from '../../../src-shared/contract/desktop.ts'
import { useConnection } from '../base/client.ts'

/** How the program behaves on this machine, and what it asks of the page; nothing of it in a browser. */
export const useDesktop = defineStore('desktop', () => {
  const { desktop } = useConnection()
  /** null in a browser, and until the desktop has answered. */
  const state = shallowRef<DesktopState | null>(null)
  /** A folder that was dropped, until somebody looks into it. */
  const folder = shallowRef<string | null>(null)

  return {
    state,
    folder,
    /** The app runs in its own window. */
    present: desktop !== null,
    isMac: desktop?.platform === 'darwin',
    /** To be called once. */
    listen: (onRequest: (request: DesktopRequest) => void): void =>
      desktop?.listen((next) => (state.value = next), onRequest),
    change: async (change: DesktopChange): Promise<void> => desktop?.change(change),
    update: async (step: UpdateStep): Promise<void> => desktop?.update(step),
    setPreferences: (preferences: PagePreferences): void => desktop?.setPreferences(preferences),
    /** Opens the system's folder dialog; null in a browser and when the person changes their mind. */
    pickFolder: async (): Promise<string | null> => (await desktop?.pickFolder()) ?? null,
    /** The editors and terminals of this machine; none in a browser, which may be on another. */
    folderTools: async (): Promise<readonly FolderTool[]> => (await desktop?.folderTools()) ?? [],
    /** Whether the folder was opened in it. */
    openFolder: async (tool: string, path: string): Promise<boolean> =>
      (await desktop?.openFolder(tool, path)) ?? false,
    /** Whether the file of a task's worktree was opened in it at the line. */
    openFile: async (tool: string, taskId: string, path: string, line: number): Promise<boolean> =>
      (await desktop?.openFile(tool, taskId, path, line)) ?? false,
    showFolder: async (path: string): Promise<void> => desktop?.showFolder(path),
    /** The dropped folder, once. */
    takeFolder(): string | null {
      const taken = folder.value
      folder.value = null
      return taken
    },
  }
})
