/** Work that runs less often than it is requested. */
export interface Throttled {
  ask(): void
  /** Drops a pending request. */
  stop(): void
}

/** Runs `work` at once, then at most every `ms` milliseconds. Requests in between are run once, when the time is up. */
export function throttle(ms: number, work: () => void): Throttled {
  let timer: ReturnType<typeof setTimeout> | null = null
  let asked = false

  function run(): void {
    asked = false
    timer = setTimeout(() => {
      timer = null
      if (asked) run()
    }, ms)
    work()
  }
  return {
    ask: () => (timer === null ? run() : void (asked = true)),
    stop: () => {
      if (timer !== null) clearTimeout(timer)
      timer = null
      asked = false
    },
  }
}
