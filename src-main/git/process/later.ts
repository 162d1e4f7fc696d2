/** Returns a signal that aborts `ms` after `signal`, unless `done` aborts first. */
export function later(signal: AbortSignal, ms: number, done: AbortSignal): AbortSignal {
  const late = new AbortController()
  const start = (): void => {
    const timer = setTimeout(() => late.abort(signal.reason), ms)
    done.addEventListener('abort', () => clearTimeout(timer), { once: true })
  }
  signal.addEventListener('abort', start, { once: true, signal: done })
  return late.signal
}
