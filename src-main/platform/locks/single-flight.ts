import { createKeyedLock } from './keyed-lock.ts'

/** Reads that many ask for: one at a time per place, and one answer for all who wait for the same. */
export interface SingleFlight {
  /**
   * Never answers with a read that began before it was asked for. Those who come while a read of the same waits for
   * its turn share it; it is cancelled when none of them wants it any more. A cancelled call rejects with its
   * signal's reason at once.
   */
  run<T>(
    of: { readonly place: string; readonly what: string },
    signal: AbortSignal,
    read: (signal: AbortSignal) => Promise<T>,
  ): Promise<T>
  /** Something else that must not run beside the reads of a place; shared with nobody. */
  inTurn<T>(place: string, work: () => Promise<T>): Promise<T>
}

interface Waiting {
  readonly result: Promise<unknown>
  askers: number
  readonly cancel: AbortController
}

/** `what` names the read whole: the same name must mean the same type of answer. */
export function createSingleFlight(): SingleFlight {
  const places = createKeyedLock()
  const waiting = new Map<string, Waiting>()

  const enqueue = <T>(place: string, key: string, read: (signal: AbortSignal) => Promise<T>): Waiting => {
    const cancel = new AbortController()
    const result = places.run(place, async () => {
      waiting.delete(key)
      cancel.signal.throwIfAborted()
      return await read(cancel.signal)
    })
    // Whoever asked hears of a failure through their own promise.
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
