import { defineAsyncComponent, type Component } from 'vue'

interface Module {
  readonly default: Component
}

/**
 * Milliseconds between the attempts to load a script. A changed network, a machine that has just woken up and a
 * restarted service are back by then.
 */
const waits = [100, 400, 1_000, 2_000, 4_000]

/** Loads a script, again if that fails. Rejects with the last error. */
export async function loadScript<M>(load: () => Promise<M>): Promise<M> {
  for (const wait of waits) {
    try {
      return await load()
    } catch {
      await new Promise((resolve) => setTimeout(resolve, wait))
    }
  }
  return await load()
}

/** Creates a component that is loaded when it is first drawn, and shows nothing until then. */
export const lazyPart = <M extends Module>(load: () => Promise<M>): M['default'] =>
  defineAsyncComponent<M['default']>(() => loadScript(load))

/**
 * Creates a component that is loaded separately from the first script. `fetch` loads it early, so
 * it opens without a delay.
 */
export function lazyComponent<M extends Module>(load: () => Promise<M>) {
  let coming: Promise<M> | null = null
  const fetch = (): Promise<M> => {
    coming ??= loadScript(load).catch((error: unknown) => {
      coming = null
      throw error
    })
    return coming
  }
  return { component: defineAsyncComponent<M['default']>(fetch), fetch }
}
