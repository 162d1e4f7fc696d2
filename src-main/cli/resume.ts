import { setTimeout as delay } from 'node:timers/promises'
import { ConnectionError } from '../../src-shared/client/http-transport.ts'

/** How long the service may be unreachable before a stream is given up. */
const patienceMs = 30_000
const shortestWaitMs = 250
const longestWaitMs = 4_000
/** An unreachable service fails faster than this, so a longer attempt means that it was reachable. */
const connectMs = 1_000

/**
 * Reads a stream to its end and reconnects from the last position when the connection is lost. `read` opens the
 * stream, calls `onItem` for each item, and returns whether the stream ended. Throws the `ConnectionError` of a
 * service that was unreachable for half a minute, or at once if it was never reachable.
 */
export async function readResuming(read: (onItem: () => void) => Promise<'ended' | 'lost'>): Promise<void> {
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
