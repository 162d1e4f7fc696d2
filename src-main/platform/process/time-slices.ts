import { setImmediate as nextTurn } from 'node:timers/promises'

/** How long work may keep everything else waiting. */
const sliceMs = 3

/** Returns a function to await between the parts of synchronous work, which lets others go first now and then. */
export function createTimeSlices(): () => Promise<void> {
  let since = performance.now()
  return async () => {
    if (performance.now() - since < sliceMs) return
    await nextTurn()
    since = performance.now()
  }
}
