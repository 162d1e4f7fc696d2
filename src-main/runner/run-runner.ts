import { randomUUID } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { jobProtocol } from '../../src-shared/contract/jobs.ts'
import { createKeyedLock } from '../platform/locks/keyed-lock.ts'
import type { Logger } from '../platform/logging/log.ts'
import type { Executors } from '../ports/executors.ts'
import type { Scripts } from '../ports/scripts.ts'
import { performJob } from './perform-job.ts'
import { ServiceRefusal, type ServiceCalls } from './service-calls.ts'

export interface RunnerParts {
  readonly service: ServiceCalls
  readonly folder: string
  readonly runs: Executors
  readonly scripts: Scripts
  readonly log: Logger
}

const retryMs = 2_000

/**
 * Asks the service for work and does it, until `signal` aborts; then its runs are ended. Throws `ServiceRefusal` where
 * the service will never have work for this program: another version, or another runner in its place.
 */
export async function runRunner(parts: RunnerParts, signal: AbortSignal): Promise<void> {
  const { service, folder, log } = parts
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const instance = randomUUID()
  const locks = createKeyedLock()
  const jobs = new Map<string, Promise<void>>()
  try {
    while (!signal.aborted) {
      try {
        const report = { instance, protocol: jobProtocol, wait_seconds: 10, jobs: [] }
        for (const offer of await service.report(report, { signal })) {
          const done = performJob(offer, { ...parts, instance, locks }, signal)
          jobs.set(offer.job_id, done)
          void done.then(() => jobs.delete(offer.job_id))
        }
      } catch (error) {
        if (signal.aborted) return
        if (error instanceof ServiceRefusal) throw error
        log.debug({ err: error }, 'the service can’t be reached')
        await delay(retryMs, undefined, { signal }).catch(() => undefined)
      }
    }
  } finally {
    await Promise.all(jobs.values())
  }
}
