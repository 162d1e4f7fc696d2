import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { eventsLog, rawLog } from '../../src-shared/contract/job-events.ts'
import type { Cancellable } from '../ports/cancellable.ts'
import { finishJob } from './finish-job.ts'
import { startBeats } from './job-beats.ts'
import { taskFolder, type LeftJob } from './job-folder.ts'
import type { JobParts } from './job-parts.ts'
import { startWorkSender } from './send-work.ts'
import { openSentLog } from './sent-log.ts'

const lateMs = 60_000

/** Ends the processes of a job that an earlier process of the runner left. */
export async function reapLeft(
  { kept }: LeftJob,
  { runs, scripts }: Pick<JobParts, 'runs' | 'scripts'>,
): Promise<void> {
  if (kept.execution_id !== null) await runs.reap(null, kept.execution_id)
  await scripts.reap(kept.job)
}

/**
 * Finishes a job that an earlier process of the runner has done, or brings the work of one that it was doing: it is lost,
 * because no one sees any more how its agent ends. Never rejects.
 */
export async function endLeft(
  left: LeftJob,
  parts: Omit<JobParts, 'own' | 'runs' | 'scripts' | 'program' | 'late'>,
  { signal }: Cancellable,
) {
  const { folder, locks, log } = parts
  const { kept, ending } = left
  try {
    await locks.run(kept.task_id, async () => {
      if (ending !== null) await finishLeft(left, ending, parts, { signal })
      else if (kept.is_task) {
        const limit = { signal: AbortSignal.any([signal, AbortSignal.timeout(lateMs)]) }
        await senderOf(kept, parts).sendLate(limit)
      }
    })
  } catch (error) {
    log.warn({ err: error, job: kept.job }, 'the work of a job that was left could not be brought')
  }
  if (signal.aborted) return
  if (!kept.is_task) await rm(taskFolder(folder, kept.task_id), { recursive: true, force: true })
  await rm(left.folder, { recursive: true, force: true })
}

function senderOf(
  { offer, branch, task_id, job, max_file_bytes }: LeftJob['kept'],
  { folder, service, log, takeOver }: Pick<JobParts, 'folder' | 'service' | 'log' | 'takeOver'>,
) {
  const target = () => ({ url: `${service.url()}/api/v1/git/${job}.git`, token: offer.token })
  const of = taskFolder(folder, task_id)
  return startWorkSender({ folder: of, branch, target, max_file_bytes, takeOver, log })
}

async function finishLeft(
  { kept, folder }: LeftJob,
  ending: NonNullable<LeftJob['ending']>,
  parts: Pick<JobParts, 'folder' | 'service' | 'log' | 'takeOver'>,
  { signal }: Cancellable,
): Promise<void> {
  const { fence } = kept.offer
  const calls = parts.service.job(kept.offer)
  const over = new AbortController()
  const until = { signal: AbortSignal.any([signal, over.signal]) }
  const onLost = (): void => over.abort()
  const beats = startBeats(calls, fence, {
    onInput: () => undefined,
    onStop: () => undefined,
    onBack: () => undefined,
    onLost,
  })
  const openLog = (name: string) => openSentLog({ path: join(folder, name), name, calls, onLost }, until)
  const [events, raw] = [await openLog(eventsLog), await openLog(rawLog)]
  const sender = kept.is_task ? senderOf(kept, parts) : null
  try {
    await finishJob({ calls, fence, events, raw, sender }, ending, until)
  } finally {
    over.abort()
    await beats.end()
    await sender?.stop()
    await Promise.all([events.close(), raw.close()])
  }
}
