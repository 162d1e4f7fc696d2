import { defineStore } from 'pinia'
import { shallowRef } from 'vue'
import type {
  DesktopChange,
  DesktopRequest,
  DesktopState,
  PageManners,
  UpdateStep,
} from '../../src-shared/contract/desktop.ts'
import { useConnection } from './client.ts'

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
    present: desktop !== null,
    isMac: desktop?.platform === 'darwin',
    /** To be called once. */
    listen: (onRequest: (request: DesktopRequest) => void): void =>
      desktop?.listen((next) => (state.value = next), onRequest),
    change: async (change: DesktopChange): Promise<void> => desktop?.change(change),
    update: async (step: UpdateStep): Promise<void> => desktop?.update(step),
    setManners: (manners: PageManners): void => desktop?.setManners(manners),
    takeFolder(): string | null {
      const taken = folder.value
      folder.value = null
      return taken
    },
  }
})
