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

/** The desktop app's state and functions. In a browser all of them do nothing. */
export const useDesktop = defineStore('desktop', () => {
  const { desktop } = useConnection()
  /** null in a browser, and until the desktop app has replied. */
  const state = shallowRef<DesktopState | null>(null)
  /** The path of a dropped folder, until `takeFolder` is called. */
  const folder = shallowRef<string | null>(null)

  return {
    state,
    folder,
    /** Whether the page runs in the desktop app's window. */
    present: desktop !== null,
    isMac: desktop?.platform === 'darwin',
    /** Starts listening to the desktop app. Must be called once. */
    listen: (onRequest: (request: DesktopRequest) => void): void =>
      desktop?.listen((next) => (state.value = next), onRequest),
    change: async (change: DesktopChange): Promise<void> => desktop?.change(change),
    update: async (step: UpdateStep): Promise<void> => desktop?.update(step),
    setPreferences: (preferences: PagePreferences): void => desktop?.setPreferences(preferences),
    /** Opens the system's folder dialog. Returns null in a browser and if the user cancels. */
    pickFolder: async (): Promise<string | null> => (await desktop?.pickFolder()) ?? null,
    /** Returns the editors and terminals of this machine; none in a browser, which may run on another machine. */
    folderTools: async (): Promise<readonly FolderTool[]> => (await desktop?.folderTools()) ?? [],
    /** Opens a folder with a tool. Returns whether it succeeded. */
    openFolder: async (tool: string, path: string): Promise<boolean> =>
      (await desktop?.openFolder(tool, path)) ?? false,
    /** Opens a file of a task's worktree at a line. Returns whether it succeeded. */
    openFile: async (tool: string, taskId: string, path: string, line: number): Promise<boolean> =>
      (await desktop?.openFile(tool, taskId, path, line)) ?? false,
    showFolder: async (path: string): Promise<void> => desktop?.showFolder(path),
    /** Returns the dropped folder and clears it. */
    takeFolder(): string | null {
      const taken = folder.value
      folder.value = null
      return taken
    },
  }
})
