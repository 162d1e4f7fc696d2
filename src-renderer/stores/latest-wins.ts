/** Tells which of what is heard and what was asked for is the newest, for each key: answers come in any order. */
export function createLatestWins() {
  let moment = 0
  /** What is known of a key was told, or asked for, at this moment. */
  const since = new Map<string, number>()
  return {
    /** An event has told of it. */
    markUpdated: (key: string): void => void since.set(key, ++moment),
    /** The answer, and of which keys it is to be taken: nothing was told, nor asked for and answered, since it was asked for. */
    async ask<T>(work: () => Promise<T>): Promise<{ readonly answer: T; readonly isLatest: (key: string) => boolean }> {
      const asked = ++moment
      const answer = await work()
      const isLatest = (key: string): boolean => {
        if ((since.get(key) ?? 0) > asked) return false
        since.set(key, asked)
        return true
      }
      return { answer, isLatest }
    },
  }
}
