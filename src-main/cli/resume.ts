import { setTimeout as delay } from 'node:timers/promises'
import { ConnectionError } from '../../src-shared/client/http-transport.ts'

/** How long the service may be away before a stream is given up. */
const patienceMs = 30_000
const shortestWaitMs = 250
const longestWaitMs = 4_000
/** A service that is not there is known at once; what lasted longer was there. */
const connectMs = 1_000

/**
 * Reads a stream to its end, anew from where it was whenever the connection is lost. `read` opens it, calls
 * `heard` for whatever comes, and answers whether that was the end. Throws the `ConnectionError` of a service
 * that has been away for half a minute, and at once of one that was not there at all.
 */
export async function readResuming(read: (heard: () => void) => Promise<'ended' | 'lost'>): Promise<void> {
  let awaySince: number | null = null
  let wait = shortestWaitMs
  for (let wasThere = false; ; wasThere = true) {
    const began = performance.now()
    let isThere = false
    let failure: ConnectionError | null = null
    try {
      if ((await read(() => (isThere = true))) === 'ended') return
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error
      failure = error
    }
    const now = performance.now()
    if (isThere || now - began > connectMs) {
      awaySince = null
      wait = shortestWaitMs
    } else if (failure !== null && !wasThere) throw failure
    awaySince ??= now
    if (failure !== null && now - awaySince > patienceMs) throw failure
    await delay(wait)
    wait = Math.min(wait * 2, longestWaitMs)
  }
}
