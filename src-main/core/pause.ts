/** Resolves after the time, or when one of the signals that have not aborted yet does. */
export function pause(ms: number, signals: readonly (AbortSignal | undefined)[]): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const wake = () => resolve()
  const timer = setTimeout(wake, ms)
  const watched = signals.filter((signal) => signal !== undefined && !signal.aborted)
  for (const signal of watched) signal?.addEventListener('abort', wake, { once: true })
  return promise.finally(() => {
    clearTimeout(timer)
    for (const signal of watched) signal?.removeEventListener('abort', wake)
  })
}
