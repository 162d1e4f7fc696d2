import { expect, test } from 'vitest'
import { jobProtocol } from '../../../src-shared/contract/jobs.ts'
import { beatOf, call, codeOf, createRig, finishOf, runner, seeker, signal } from '../../helpers/jobs-rig.ts'

test('gives a job out again, with another token, until it is accepted', async () => {
  const rig = createRig()
  rig.offer()
  const first = await rig.take()
  const second = await rig.take()
  expect(second.job_id).toBe(first.job_id)
  expect(second.fence).toBeGreaterThan(first.fence)
  expect(await codeOf(() => rig.accept(first))).toBe('lease_lost')
  expect(await rig.accept(second)).toMatchObject({ kind: 'run', job: first.job_id })
  // The answer was lost.
  await rig.accept(second)
  expect(await codeOf(() => rig.accept(second, 'b'))).toBe('lease_lost')
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
  await rig.accept(offer)
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
  await rig.accept(offer)
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
  await rig.accept(offer)
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
  await rig.accept(offer)
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
  await rig.accept(offer)
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
  await rig.accept(offer)
  rig.jobs.lose(runner, 'The pod was evicted.')
  expect(await second.ended).toEqual({ kind: 'lost', why: 'The pod was evicted.' })
})

test('gives a run back that no runner can be reached for, unless one has it', async () => {
  const rig = createRig()
  const job = rig.offer('byHand')
  const offer = await rig.take()
  expect(rig.jobs.isOpen(job.id)).toBe(true)
  rig.jobs.unreached(job.id, 'Far can’t be reached.')
  await job.taken
  expect(await job.ended).toEqual({ kind: 'unreached', why: 'Far can’t be reached.' })
  expect([job.untaken(), rig.jobs.isOpen(job.id)]).toEqual(['Far can’t be reached.', false])
  expect(await codeOf(() => rig.accept(offer))).toBe('lease_lost')

  const other = rig.offer()
  const taken = await rig.take()
  await rig.accept(taken)
  rig.jobs.unreached(other.id, 'Far can’t be reached.')
  await rig.jobs.finish(call(taken), finishOf(taken), { signal })
  expect([await other.ended, other.untaken()]).toMatchObject([{ kind: 'finished' }, null])
})

test('says of what can’t start why, and does not offer it again', async () => {
  const rig = createRig()
  const job = rig.offer('byHand')
  rig.jobs.loseJob(job.id, 'The image is not there.')
  expect([await job.ended, job.untaken()]).toEqual([{ kind: 'unstarted', why: 'The image is not there.' }, null])
})

test('ends steps that no runner takes, once theirs has been out of contact for its time of grace', async () => {
  const rig = createRig()
  const job = rig.offer('byHand', 'steps')
  job.begin()
  rig.wait(600)
  // It asks for work, so the contact is back, but it never takes the job.
  await rig.take()
  rig.wait(625)
  expect(rig.jobs.isOpen(job.id)).toBe(true)
  rig.wait(10)
  expect(await job.ended).toEqual({ kind: 'unreached', why: 'Its runner was out of contact for too long.' })
  // A run waits for what carries it, which has it queued again.
  const run = rig.offer('byHand')
  rig.wait(3_600)
  expect(rig.jobs.isOpen(run.id)).toBe(true)
})

test('withdraws steps that no runner has, though they may begin at once', async () => {
  const rig = createRig()
  const job = rig.offer('byHand', 'steps')
  job.begin()
  const offer = await rig.take()
  job.stop()
  expect(await job.ended).toEqual({ kind: 'withdrawn' })
  expect(await codeOf(() => rig.accept(offer))).toBe('lease_lost')
})

test('ends what a runner that is gone has not taken yet', async () => {
  const rig = createRig()
  const [steps, run] = [rig.offer('byHand', 'steps'), rig.offer('byHand')]
  steps.begin()
  rig.jobs.lose(runner, 'Far was removed.')
  expect(await steps.ended).toEqual({ kind: 'unreached', why: 'Far was removed.' })
  expect([await run.ended, run.untaken()]).toEqual([{ kind: 'unreached', why: 'Far was removed.' }, 'Far was removed.'])
})
