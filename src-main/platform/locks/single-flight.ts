import { createKeyedLock } from './keyed-lock.ts'

/** Reads with many callers: one at a time per place, and one result for all who wait for the same read. */
export interface SingleFlight {
  /**
   * Never returns a read that began before the call. Callers that arrive while a read of the same name waits share
   * it; it is cancelled when none of them wants it any more. A cancelled call rejects at once with its signal's
   * reason.
   */
  run<T>(
    of: { readonly place: string; readonly what: string },
    signal: AbortSignal,
    read: (signal: AbortSignal) => Promise<T>,
  ): Promise<T>
  /** Runs other work in turn with the reads of a place; shared with no other caller. */
  inTurn<T>(place: string, work: () => Promise<T>): Promise<T>
}

interface PendingRead {
  readonly result: Promise<unknown>
  askers: number
  readonly cancel: AbortController
}

/** Creates a single flight. `what` names a read fully: the same name must mean the same result type. */
export function createSingleFlight(): SingleFlight {
  const places = createKeyedLock()
  const waiting = new Map<string, PendingRead>()

  const enqueue = <T>(place: string, key: string, read: (signal: AbortSignal) => Promise<T>): PendingRead => {
    const cancel = new AbortController()
    const result = places.run(place, async () => {
      waiting.delete(key)
      cancel.signal.throwIfAborted()
      return await read(cancel.signal)
    })
    // Prevents an unhandled rejection; each caller handles its own promise.
    result.catch(() => undefined)
    return { result, askers: 0, cancel }
  }
  return {
    inTurn: (place, work) => places.run(place, work),
    run: async <T>(
      { place, what }: { readonly place: string; readonly what: string },
      signal: AbortSignal,
      read: (signal: AbortSignal) => Promise<T>,
    ) => {
      signal.throwIfAborted()
      const key = JSON.stringify([place, what])
      const shared = waiting.get(key) ?? enqueue(place, key, read)
      waiting.set(key, shared)
      shared.askers += 1
      const leave = () => {
        shared.askers -= 1
        if (shared.askers > 0) return
        if (waiting.get(key) === shared) waiting.delete(key)
        shared.cancel.abort(signal.reason)
      }
      return await unlessAborted(shared.result as Promise<T>, signal, leave)
    },
  }
}

function unlessAborted<T>(result: Promise<T>, signal: AbortSignal, onAbort: () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      onAbort()
      reject(signal.reason as Error)
    }
    signal.addEventListener('abort', abort, { once: true })
    const settled = () => {
      signal.removeEventListener('abort', abort)
    }
    result.then(resolve, reject).finally(settled)
  })
}
