/** The delay in Safari, which has no `requestIdleCallback`: the first paint is done by then. */
const fallbackDelayMs = 200

/** The longest wait on a page that is never idle. */
const maxWaitMs = 1_000

/** Calls back once the browser is idle. Returns a function that cancels the call. */
export function onIdle(work: () => void): () => void {
  if (!('requestIdleCallback' in globalThis)) {
    const timer = setTimeout(work, fallbackDelayMs)
    return () => clearTimeout(timer)
  }
  const handle = requestIdleCallback(() => work(), { timeout: maxWaitMs })
  return () => cancelIdleCallback(handle)
}
