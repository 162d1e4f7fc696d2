import type { Logger } from '../platform/logging/log.ts'
import { isWriteFailure } from '../platform/process/write-failure.ts'
import { pause } from './pause.ts'

/** Writes that must not be lost: results of something that has already happened and can't be repeated. */
export interface DurableWrites {
  /**
   * Runs `write` until the database or its disk takes it, with a growing pause between the attempts. The first attempt
   * is made before this function returns. Rejects with any other error, with the last one once `signal` aborts, and
   * with the last one some seconds after `close`.
   */
  untilWritten<T>(write: () => T | Promise<T>, signal?: AbortSignal): Promise<T>
  /** Called when the service ends: writes that still fail are retried for a few seconds, then given up. */
  close(): void
}

const firstPauseMs = 100
const maxPauseMs = 5_000
const closeGraceMs = 3_000
const closePauseMs = 500

/** Creates the retry loop, of which all parts of the engine share one. */
export function createDurableWrites({ log }: { readonly log: Logger }): DurableWrites {
  const closing = new AbortController()
  let closesAt = Infinity
  const untilWritten: DurableWrites['untilWritten'] = async (write, signal) => {
    for (let pauseMs = firstPauseMs, attempt = 1; ; attempt++, pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
      try {
        return await write()
      } catch (error) {
        if (!isWriteFailure(error) || signal?.aborted || Date.now() >= closesAt) throw error
        log.warn({ err: error, attempt, next_in_ms: pauseMs }, 'a result could not be written; it is kept and retried')
      }
      await pause(closing.signal.aborted ? Math.min(pauseMs, closePauseMs) : pauseMs, [closing.signal, signal])
    }
  }
  return {
    untilWritten,
    close: () => {
      if (closing.signal.aborted) return
      closesAt = Date.now() + closeGraceMs
      closing.abort()
    },
  }
}
