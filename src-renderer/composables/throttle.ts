/** Work that is asked for more often than it needs doing. */
export interface Throttled {
  ask(): void
  /** Drops what was asked for and not done yet. */
  stop(): void
}

/** Does `work` at once, then at most every `ms`: what is asked for in between is done once, when the time is up. */
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
