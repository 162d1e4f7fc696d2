import { defineAsyncComponent, type Component } from 'vue'

interface Module {
  readonly default: Component
}

/**
 * Creates a component that is loaded separately from the first script. `fetch` loads it early, so
 * it opens without a delay.
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
