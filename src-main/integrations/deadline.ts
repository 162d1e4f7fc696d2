import type { Clock } from '../ports/clock.ts'

/** Timers hold no longer waits than this. */
const longestMs = 2_147_483_647

/** Does one thing when its time has come. */
export interface Deadline {
  /** Milliseconds since the epoch; in place of the time before. */
  at(time: number): void
  clear(): void
}

/** A wait that is too long for one timer, or for a clock that was set back, is looked at again. */
export function createDeadline(clock: Clock, reach: () => void): Deadline {
  let timer: NodeJS.Timeout | null = null
  const clear = () => {
    if (timer) clearTimeout(timer)
    timer = null
  }
  return {
    at: (time) => {
      clear()
      timer = setTimeout(reach, Math.min(Math.max(time - clock.now(), 0), longestMs))
    },
    clear,
  }
}
