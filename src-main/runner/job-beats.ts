import { setTimeout as delay } from 'node:timers/promises'
import { lonelyHours, type JobInput } from '../../src-shared/contract/jobs.ts'
import type { JobCalls } from './service-calls.ts'
import { isLeaseLost } from './service-calls.ts'

export interface JobBeats {
  /** Stops sending them. */
  end(): Promise<void>
}

export interface BeatListener {
  /** Called once with each input, in order. */
  onInput(input: JobInput): void
  /** The service asks to end the job; may be called again. */
  onStop(): void
  /** The service is heard again; it may be another one. */
  onBack(): void
  /** The job is no longer this runner's, or the service was out of contact for too long. */
  onLost(): void
}

const waitSeconds = 8
const retryMs = 2_000

/** Tells the service every few seconds that the job lives, and takes what it has for it. */
export function startBeats(calls: JobCalls, fence: number, listener: BeatListener): JobBeats {
  const end = new AbortController()
  let seen = 0
  let heardAt = performance.now()
  let isHeard = true
  const beat = async (): Promise<void> => {
    while (!end.signal.aborted) {
      try {
        const now = new Date().toISOString()
        const answer = await calls.beat({ fence, seen, wait_seconds: waitSeconds, now }, { signal: end.signal })
        heardAt = performance.now()
        if (!isHeard) listener.onBack()
        isHeard = true
        for (const input of answer.inputs) {
          if (input.n <= seen) continue
          seen = input.n
          listener.onInput(input)
        }
        if (answer.action === 'stop') {
          listener.onStop()
          await pause(retryMs)
        }
      } catch (error) {
        if (end.signal.aborted) return
        isHeard = false
        if (isLeaseLost(error) || performance.now() - heardAt > lonelyHours * 3_600_000) return listener.onLost()
        await pause(retryMs)
      }
    }
  }
  const pause = (ms: number) => delay(ms, undefined, { signal: end.signal }).catch(() => undefined)
  const beating = beat()
  return {
    end: async () => {
      end.abort()
      await beating
    },
  }
}
