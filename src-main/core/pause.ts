/** Resolves after `ms`, or as soon as one of the signals aborts; signals that have already aborted are ignored. */
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
