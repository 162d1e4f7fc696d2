import { randomUUID } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { ContainmentStatus } from '../../src-shared/contract/containment.ts'
import type { JobId, TaskId } from '../../src-shared/contract/ids.ts'
import { jobProtocol, lonelyHours, silentSeconds } from '../../src-shared/contract/jobs.ts'
import { createKeyedLock } from '../platform/locks/keyed-lock.ts'
import type { Logger } from '../platform/logging/log.ts'
import type { Executors } from '../ports/executors.ts'
import type { Scripts } from '../ports/scripts.ts'
import { readLeftJobs } from './job-folder.ts'
import type { JobPorts } from './job-ports.ts'
import { createKeptTasks } from './kept-tasks.ts'
import { endLeft, reapLeft } from './left-jobs.ts'
import type { OtherPrograms } from './other-programs.ts'
import { performJob } from './perform-job.ts'
import { ServiceRefusal, type OwnReport, type ServiceCalls } from './service-calls.ts'

export interface RunnerParts {
  readonly service: ServiceCalls
  readonly folder: string
  /** The folder of this program in it, or the same. */
  readonly own: string
  readonly runs: Executors
  readonly scripts: Scripts
  /** Says how this machine can contain runs. */
  readonly containment?: () => ContainmentStatus
  /** Takes over what contained runs have committed so far in a worktree. */
  readonly takeOver?: (worktree: string) => Promise<void>
  /** The words that start the runner's program. */
  readonly program: readonly string[]
  readonly log: Logger
  readonly ports?: Pick<JobPorts, 'watch'>
  readonly others?: OtherPrograms
  /** What it tells of itself beyond what links do. */
  readonly about?: Pick<OwnReport, 'capacity' | 'hostname' | 'version'>
  /** Called once the service has answered for the first time. */
  readonly onContact?: () => void
}

const retryMs = 2_000
const idleTaskMs = 60 * 60_000
const sweepMs = 60_000
/** How long the end of a runner may take, with its runs' own; what is not sent by then is kept. */
const endMs = 12_000

/**
 * Asks the service for work and does it, until `signal` aborts; then its runs are ended. Resolves with whether it has
 * kept work that could not be sent. Throws `ServiceRefusal` where the service will never have work for this program:
 * another version, or another runner in its place.
 */
export async function runRunner(parts: RunnerParts, signal: AbortSignal): Promise<boolean> {
  const { service, folder, own, others, log } = parts
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const instance = randomUUID()
  const locks = createKeyedLock()
  const keptTasks = createKeptTasks({
    folder,
    locks,
    idleMs: idleTaskMs,
    ...(others && { isBusy: others.isBusy }),
    log,
  })
  const sweeps = new Set<Promise<void>>()
  const sweep = (ended: readonly TaskId[]): void => {
    const swept = keptTasks.sweep(ended, { signal })
    sweeps.add(swept)
    void swept.then(() => sweeps.delete(swept))
  }
  const sweeping = setInterval(sweep, sweepMs, [])
  const late = new AbortController()
  let ending: NodeJS.Timeout | undefined
  const hurry = (): void => void (ending = setTimeout(() => late.abort(), endMs))
  signal.addEventListener('abort', hurry, { once: true })
  const jobs = new Map<string, Promise<void>>()
  const note = (job_id: JobId, done: Promise<void>): void => {
    jobs.set(job_id, done)
    void done.then(() => jobs.delete(job_id))
  }
  const since = performance.now()
  // The one before may have been killed a moment ago, which the service can't know yet.
  const mayBeEarly = () => performance.now() - since < 2 * silentSeconds * 1_000
  let heardAt: number | null = null
  let alone = new AbortController()
  let tasks = await keptTasks.list()
  const left = [...(await readLeftJobs(own))]
  for (const one of left) await reapLeft(one, parts)
  try {
    while (!signal.aborted) {
      try {
        const found = await others?.look()
        for (const one of found?.left ?? []) {
          left.push(one)
          await reapLeft(one, parts)
        }
        const kept = left.filter(({ ending }) => ending !== null).map(({ kept: { job } }) => job)
        const theirs = (found?.kept ?? []).map(({ job }) => job)
        const report = {
          ...parts.about,
          instance,
          protocol: jobProtocol,
          wait_seconds: left.length > 0 ? 0 : 10,
          jobs: [...kept, ...theirs, ...(jobs.keys() as Iterable<JobId>)],
          tasks: [...tasks],
          ...(parts.containment && { containment: parts.containment() }),
        }
        const { jobs: offers, ended } = await service.report(report, { signal })
        // Not just before a report, which would be faster than what it accepts, and have it on offer again.
        tasks = await keptTasks.list()
        // The service knows by now that those which it can't finish are lost, and takes their work apart.
        for (const one of left.splice(0)) note(one.kept.job, endLeft(one, { ...parts, instance, locks }, { signal }))
        const shared = { ...parts, instance, locks, late: late.signal }
        const until = AbortSignal.any([signal, alone.signal])
        for (const offer of offers) note(offer.job_id, performJob(offer, shared, until))
        if (ended.length > 0) sweep(ended)
        if (heardAt === null) parts.onContact?.()
        heardAt = performance.now()
      } catch (error) {
        if (signal.aborted) break
        if (error instanceof ServiceRefusal && !(error.code === 'runner_taken' && mayBeEarly())) throw error
        log.debug({ err: error }, 'the service can’t be reached')
        if (performance.now() - (heardAt ?? since) > lonelyHours * 3_600_000) {
          alone.abort()
          alone = new AbortController()
        }
        await delay(retryMs, undefined, { signal }).catch(() => undefined)
      }
    }
  } finally {
    clearInterval(sweeping)
    await Promise.all([...jobs.values(), ...sweeps])
    signal.removeEventListener('abort', hurry)
    clearTimeout(ending)
  }
  return (await readLeftJobs(own)).length > 0
}
