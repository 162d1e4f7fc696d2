import { expect, test } from 'vitest'
import { createJobs, sweepMs, type Jobs } from '../../../src-main/jobs/jobs.ts'
import type { Job, JobWork } from '../../../src-main/jobs/job.ts'
import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { ExecutionId, RunnerId, TaskId } from '../../../src-shared/contract/ids.ts'
import { jobProtocol, type JobFinish, type JobOffer } from '../../../src-shared/contract/jobs.ts'

const runner = '0197f1c0-0000-7000-8000-000000000001' as RunnerId
const signal = new AbortController().signal
const commit = 'a'.repeat(40)

interface Rig {
  readonly jobs: Jobs
  readonly logs: Map<string, string>
  readonly links: string[]
  readonly asked: string[]
  offer(): Job
  take(instance?: string): Promise<JobOffer>
  /** Lets time pass as sweeps see it. */
  wait(seconds: number): void
  /** Lets the machine sleep. */
  sleep(seconds: number): void
  missing: readonly string[]
}

function createRig(): Rig {
  let now = Date.parse('2026-11-01T12:00:00Z')
  let ids = 0
  const jobs = createJobs({
    clock: { now: () => now },
    newId: () => `0197f1c0-0000-7000-8000-0000000000${String((ids += 1) + 10)}`,
    newToken: () => `job_${(ids += 1)}`,
  })
  const logs = new Map<string, string>()
  const rig: Rig = {
    jobs,
    logs,
    links: [],
    asked: [],
    missing: [],
    offer: () =>
      jobs.offer({
        runner_id: runner,
        grace_ms: 600_000,
        max_push_mb: 1,
        spec: {
          kind: 'run',
          task_id: '0197f1c0-0000-7000-8000-000000000002' as TaskId,
          execution: { id: '0197f1c0-0000-7000-8000-000000000003' as ExecutionId, timeout_seconds: null },
        } as JobWork['spec'],
        file: async (n) => (n === 0 ? Buffer.from('knowledge') : null),
        onLog: async (name, bytes) => void logs.set(name, (logs.get(name) ?? '') + Buffer.from(bytes).toString()),
        onAsk: (id) => void rig.asked.push(id),
        onBeat: () => undefined,
        onLink: ({ state }) => void rig.links.push(state),
        arrive: async () => rig.missing,
      }),
    take: async (instance = 'a') => {
      const [offer] = await jobs.next(
        seeker,
        { instance, protocol: jobProtocol, wait_seconds: 0, jobs: [] },
        { signal },
      )
      return offer ?? expect.unreachable()
    },
    wait: (seconds) => {
      for (let left = seconds * 1_000; left > 0; left -= sweepMs) {
        now += Math.min(left, sweepMs)
        jobs.sweep()
      }
    },
    sleep: (seconds) => {
      now += seconds * 1_000
      jobs.sweep()
    },
  }
  return rig
}

const seeker = { runner_id: runner, job_id: null }
const call = ({ job_id, token }: JobOffer) => ({ job_id, token })
const beatOf = ({ fence }: JobOffer, seen = 0) => ({ fence, seen, wait_seconds: 0, now: '2026-11-01T12:00:00Z' })
const acceptOf = ({ fence }: JobOffer, instance = 'a') => ({ fence, instance, protocol: jobProtocol })
const finishOf = ({ fence }: JobOffer, logs = {}): JobFinish => ({
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
async function codeOf(work: () => unknown): Promise<string> {
  try {
    await work()
    return 'no refusal'
  } catch (error) {
    if (error instanceof ApiError) return error.code
    throw error
  }
}

test('gives a job out again, with another token, until it is accepted', async () => {
  const rig = createRig()
  rig.offer()
  const first = await rig.take()
  const second = await rig.take()
  expect(second.job_id).toBe(first.job_id)
  expect(second.fence).toBeGreaterThan(first.fence)
  expect(await codeOf(() => rig.jobs.accept(call(first), acceptOf(first)))).toBe('lease_lost')
  expect(rig.jobs.accept(call(second), acceptOf(second))).toMatchObject({ kind: 'run', job: first.job_id })
  // The answer was lost.
  rig.jobs.accept(call(second), acceptOf(second))
  expect(await codeOf(() => rig.jobs.accept(call(second), acceptOf(second, 'b')))).toBe('lease_lost')
  expect(
    await rig.jobs.next(seeker, { instance: 'a', protocol: jobProtocol, wait_seconds: 0, jobs: [] }, { signal }),
  ).toEqual([])
  expect(rig.jobs.running(runner)).toBe(1)
})

test('refuses a second live runner, another version, and tokens of other jobs', async () => {
  const rig = createRig()
  rig.offer()
  const offer = await rig.take()
  expect(await codeOf(() => rig.take('b'))).toBe('runner_taken')
  rig.jobs.accept(call(offer), acceptOf(offer))
  rig.wait(31)
  const report = { instance: 'b', protocol: jobProtocol + 1, wait_seconds: 0, jobs: [] }
  expect(await codeOf(() => rig.jobs.next(seeker, report, { signal }))).toBe('runner_version')
  expect(await codeOf(() => rig.jobs.beat({ job_id: offer.job_id, token: 'job_x' }, beatOf(offer), { signal }))).toBe(
    'invalid_token',
  )
  rig.offer()
  const other = await rig.take('b')
  expect(await codeOf(() => rig.jobs.beat({ ...call(other), token: offer.token }, beatOf(offer), { signal }))).toBe(
    'invalid_token',
  )
})

test('gives a waiting runner its work at once', async () => {
  const rig = createRig()
  const waiting = rig.jobs.next(
    seeker,
    { instance: 'a', protocol: jobProtocol, wait_seconds: 10, jobs: [] },
    { signal },
  )
  rig.offer()
  expect(await waiting).toHaveLength(1)
})

test('gives inputs in order until they are seen, and a stop to a runner that waits', async () => {
  const rig = createRig()
  const job = rig.offer()
  const offer = await rig.take()
  rig.jobs.accept(call(offer), acceptOf(offer))
  job.input({ kind: 'keys', data: 'y' })
  job.input({ kind: 'keys', data: 'n' })
  const both = await rig.jobs.beat(call(offer), beatOf(offer), { signal })
  expect(both.inputs.map((one) => one.n)).toEqual([1, 2])
  expect((await rig.jobs.beat(call(offer), beatOf(offer, 1), { signal })).inputs.map((one) => one.n)).toEqual([2])
  const waiting = rig.jobs.beat(call(offer), { ...beatOf(offer, 2), wait_seconds: 10 }, { signal })
  job.stop()
  expect(await waiting).toEqual({ action: 'stop', inputs: [] })
})

test('takes each byte of a log once, whatever is sent twice or lost', async () => {
  const rig = createRig()
  rig.offer()
  const offer = await rig.take()
  rig.jobs.accept(call(offer), acceptOf(offer))
  const log = (offset: number, text: string) =>
    rig.jobs.log(call(offer), { name: 'events', offset, fence: offer.fence }, Buffer.from(text))
  await log(0, 'one ')
  expect(await codeOf(() => log(0, 'one '))).toBe('offset_mismatch')
  expect(await codeOf(() => log(9, 'late'))).toBe('offset_mismatch')
  await log(4, 'two')
  expect(rig.logs.get('events')).toBe('one two')
  expect(await codeOf(() => log(7, 'x'.repeat(2_000_000)))).toBe('payload_too_large')
})

test('ends only when all that is named has arrived, once, and is told so again', async () => {
  const rig = createRig()
  const job = rig.offer()
  const offer = await rig.take()
  rig.jobs.accept(call(offer), acceptOf(offer))
  const finish = () => rig.jobs.finish(call(offer), finishOf(offer, { events: 3 }), { signal })
  expect(await codeOf(finish)).toBe('not_arrived')
  await rig.jobs.log(call(offer), { name: 'events', offset: 0, fence: offer.fence }, Buffer.from('abc'))
  rig.missing = ['refs/heads/svc/x']
  expect(await codeOf(finish)).toBe('not_arrived')
  rig.missing = []
  await finish()
  await finish()
  expect(await job.ended).toMatchObject({ kind: 'finished', report: { status: 'done' } })
  expect(await codeOf(() => rig.jobs.beat(call(offer), beatOf(offer), { signal }))).toBe('lease_lost')
  expect(await rig.jobs.find(offer.job_id, offer.token)).toBeNull()
})

test('says that the link is lost, and loses the job after its time of grace', async () => {
  const rig = createRig()
  const job = rig.offer()
  const offer = await rig.take()
  rig.jobs.accept(call(offer), acceptOf(offer))
  rig.wait(25)
  expect(rig.links).toEqual(['connected'])
  rig.wait(10)
  expect([rig.links, job.isLinkLost()]).toEqual([['connected', 'lost'], true])
  await rig.jobs.beat(call(offer), beatOf(offer), { signal })
  expect(rig.links).toEqual(['connected', 'lost', 'connected'])
  // An hour of sleep is no silence.
  rig.sleep(3_600)
  expect(job.isLinkLost()).toBe(false)
  rig.wait(700)
  expect(await job.ended).toMatchObject({ kind: 'lost' })
  expect(await codeOf(() => rig.jobs.finish(call(offer), finishOf(offer), { signal }))).toBe('lease_lost')
  expect(rig.jobs.running(runner)).toBe(0)
  // What it still holds may be brought, apart from the task's.
  expect(await rig.jobs.find(offer.job_id, offer.token)).toMatchObject({ access: 'late' })
  rig.wait(25 * 3_600)
  expect(await rig.jobs.find(offer.job_id, offer.token)).toBeNull()
})

test('withdraws a job that no runner has, and loses those of a runner that is gone', async () => {
  const rig = createRig()
  const first = rig.offer()
  first.stop()
  expect(await first.ended).toEqual({ kind: 'withdrawn' })
  const second = rig.offer()
  const offer = await rig.take()
  rig.jobs.accept(call(offer), acceptOf(offer))
  rig.jobs.lose(runner, 'The pod was evicted.')
  expect(await second.ended).toEqual({ kind: 'lost', why: 'The pod was evicted.' })
})
