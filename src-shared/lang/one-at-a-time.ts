/**
 * Runs `work` one at a time: calls during a run cause one more run after it. Each call's promise covers a run that
 * began after the call.
 */
export function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null
  let next: Promise<void> | null = null
  return function run(): Promise<void> {
    if (running === null) {
      running = work().finally(() => (running = null))
      return running
    }
    next ??= running
      .catch(() => undefined)
      .then(() => {
        next = null
        return run()
      })
    return next
  }
}
