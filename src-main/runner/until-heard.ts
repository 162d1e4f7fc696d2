import { setTimeout as delay } from 'node:timers/promises'

const retryMs = 2_000

/** What git says where the link is cut, apart from an answer that the service gave. */
const cutLink = /unable to access|Empty reply|Connection (?:refused|reset)|early EOF|RPC failed|hung up|expected flush/i
const refused = /returned error: 4\d\d/

function isNoContact(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const isCut = error.name === 'GitError' && cutLink.test(error.message) && !refused.test(error.message)
  return isCut || error.name === 'NoContact'
}

/** Repeats a call while the service is out of contact. */
export async function untilHeard<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (signal.aborted || !isNoContact(error)) throw error
      await delay(retryMs, undefined, { signal })
    }
  }
}
