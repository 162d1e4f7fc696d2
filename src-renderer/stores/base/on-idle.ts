/** Safari does not tell when it is idle: the first picture is there by then. */
const afterFirstPictureMs = 200

/** A page that is never idle waits no longer than this. */
const mostMs = 1_000

/** Calls back once the browser has nothing else to do. What is returned calls that off. */
export function onIdle(work: () => void): () => void {
  if (!('requestIdleCallback' in globalThis)) {
    const timer = setTimeout(work, afterFirstPictureMs)
    return () => clearTimeout(timer)
  }
  const handle = requestIdleCallback(() => work(), { timeout: mostMs })
  return () => cancelIdleCallback(handle)
}
