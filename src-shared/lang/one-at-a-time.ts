/**
 * Runs `work` one at a time: what is asked for while it runs is done once, when it has ended. However often it is
 * asked, the last one that asked sees its work begun after that.
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
