import { defineAsyncComponent, type Component } from 'vue'

interface Module {
  readonly default: Component
}

/**
 * A component that is no part of the first script. `fetch` has it before it is asked for, so that it opens at once;
 * what is fetched is drawn without a wait.
 */
export function lazyComponent<M extends Module>(load: () => Promise<M>) {
  let coming: Promise<M> | null = null
  const fetch = (): Promise<M> => {
    coming ??= load().catch((error: unknown) => {
      coming = null
      throw error
    })
    return coming
  }
  return { component: defineAsyncComponent<M['default']>(fetch), fetch }
}
