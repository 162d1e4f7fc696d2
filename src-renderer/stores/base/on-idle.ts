/** The delay in Safari, which has no `requestIdleCallback`: the first paint is done by then. */
const afterFirstPictureMs = 200

/** The longest wait on a page that is never idle. */
const mostMs = 1_000

/** Calls back once the browser is idle. Returns a function that cancels the call. */
export function onIdle(work: () => void): () => void {
  if (!('requestIdleCallback' in globalThis)) {
    const timer = setTimeout(work, afterFirstPictureMs)
    return () => clearTimeout(timer)
  }
  const handle = requestIdleCallback(() => work(), { timeout: mostMs })
  return () => cancelIdleCallback(handle)
}
