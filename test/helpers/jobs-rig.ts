import { expect } from 'vitest'
import { memoryRecords } from './job-records.ts'
import { createJobs, sweepMs, type Jobs } from '../../src-main/jobs/jobs.ts'
import type { Job, JobOwner, JobWork } from '../../src-main/jobs/job.ts'
import type { JobQueries } from '../../src-main/ports/job-queries.ts'
import { ApiError } from '../../src-shared/contract/errors.ts'
import type { ExecutionId, RunnerId, TaskId } from '../../src-shared/contract/ids.ts'
import { jobProtocol, type JobFinish, type JobOffer, type JobSpec } from '../../src-shared/contract/jobs.ts'

export const runner = '0197f1c0-0000-7000-8000-000000000001' as RunnerId
export const signal = new AbortController().signal
const commit = 'a'.repeat(40)

export interface Rig {
  jobs: Jobs
  /** Starts another service on the same records. */
  create(): Jobs
  readonly records: JobQueries
  readonly logs: Map<string, string>
  readonly links: string[]
  readonly asked: string[]
  /** `byHand`: the owner says itself when the job may begin and when its end is saved. */
  offer(byHand?: 'byHand', kind?: JobSpec['kind'], listener?: Partial<JobOwner>): Job
  accept(offer: JobOffer, instance?: string): Promise<JobSpec>
  /** Ends the service and starts the next one; returns what the run is to it. */
  restart(): Job
  take(instance?: string): Promise<JobOffer>
  /** Lets time pass as sweeps see it. */
  wait(seconds: number): void
  /** Lets the machine sleep. */
  sleep(seconds: number): void
  missing: readonly string[]
}

const execution = '0197f1c0-0000-7000-8000-000000000003' as ExecutionId

export function createRig(): Rig {
  let now = Date.parse('2026-11-01T12:00:00Z')
  let ids = 0
  const records = memoryRecords()
  const create = () =>
    createJobs({
      clock: { now: () => now },
      newId: () => `0197f1c0-0000-7000-8000-0000000000${String((ids += 1) + 10)}`,
      newToken: () => `job_${(ids += 1)}`,
      hashToken: (token) => `hash of ${token}`,
      records,
      onLate: () => undefined,
    })
  const logs = new Map<string, string>()
  const owner: JobOwner = {
    grace_ms: 600_000,
    max_push_mb: 1,
    file: async (n) => (n === 0 ? Buffer.from('knowledge') : null),
    onLog: async (name, bytes) => {
      const text = (logs.get(name) ?? '') + Buffer.from(bytes).toString()
      logs.set(name, text)
      const held = text.length - text.lastIndexOf('\n') - 1
      return { held, size: text.length - held }
    },
    onAsk: (id) => void rig.asked.push(id),
    onLink: ({ state }) => void rig.links.push(state),
    arrive: async () => rig.missing,
    newRunToken: async () => 'another',
  }
  const following = (job: Job): Job => {
    void job.taken.then(() => job.begin())
    void job.ended.then(() => job.settle())
    return job
  }
  const rig: Rig = {
    jobs: create(),
    create,
    records,
    logs,
    links: [],
    asked: [],
    missing: [],
    offer: (byHand, kind = 'run', listener = {}) => {
      const job = rig.jobs.offer({
        ...owner,
        ...listener,
        runner_id: runner,
        loan: 'loan',
        needs_contact: kind === 'steps',
        spec: {
          kind,
          task_id: '0197f1c0-0000-7000-8000-000000000002' as TaskId,
          execution: { id: execution, timeout_seconds: null },
          folder: '/work',
          files: [],
          prompt: 'Do it.',
          env: { SVC_API_TOKEN: 'svc_secret', COLOR: 'red' },
        } as Partial<JobWork['spec']> as JobWork['spec'],
      })
      return byHand ? job : following(job)
    },
    accept: (offer, instance) => rig.jobs.accept(call(offer), acceptOf(offer, instance), { signal }),
    restart: () => {
      rig.jobs.close()
      rig.jobs = create()
      const held = rig.jobs.held(execution) ?? expect.unreachable()
      const job = following(rig.jobs.takeUp(held, owner))
      rig.jobs.start()
      return job
    },
    take: async (instance = 'a') => {
      const [offer] = await rig.jobs.next(
        seeker,
        { instance, protocol: jobProtocol, wait_seconds: 0, jobs: [] },
        { signal },
      )
      return offer ?? expect.unreachable()
    },
    wait: (seconds) => {
      for (let left = seconds * 1_000; left > 0; left -= sweepMs) {
        now += Math.min(left, sweepMs)
        rig.jobs.sweep()
      }
    },
    sleep: (seconds) => {
      now += seconds * 1_000
      rig.jobs.sweep()
    },
  }
  return rig
}

export const seeker = { runner_id: runner, job_id: null }
export const call = ({ job_id, token }: JobOffer) => ({ job_id, token })
export const beatOf = ({ fence }: JobOffer, seen = 0) => ({ fence, seen, wait_seconds: 0, now: '2026-11-01T12:00:00Z' })
const acceptOf = ({ fence }: JobOffer, instance = 'a') => ({ fence, instance, protocol: jobProtocol })
export const finishOf = ({ fence }: JobOffer, logs = {}): JobFinish => ({
  fence,
  status: 'done',
  exit_code: 0,
  session_id: null,
  usage: null,
  outcome: null,
  message: null,
  logs,
  refs: { 'refs/heads/svc/x': commit },
  left_there: [],
})

/** Returns the code that a call is refused with. */
export async function codeOf(work: () => unknown): Promise<string> {
  try {
    await work()
    return 'no refusal'
  } catch (error) {
    if (error instanceof ApiError) return error.code
    throw error
  }
}
