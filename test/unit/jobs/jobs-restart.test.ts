import { expect, test } from 'vitest'
import { jobProtocol } from '../../../src-shared/contract/jobs.ts'
import { beatOf, call, codeOf, createRig, finishOf, seeker, signal } from '../../helpers/jobs-rig.ts'

test('tells a runner what to do only once the run is known, and lets it forget its end only once that is saved', async () => {
  const rig = createRig()
  const job = rig.offer('byHand')
  const offer = await rig.take()
  let told = false
  const accepted = rig.accept(offer).then(() => (told = true))
  await job.taken
  await Promise.resolve()
  expect(told).toBe(false)
  job.begin()
  await accepted
  let answered = false
  const finished = rig.jobs.finish(call(offer), finishOf(offer), { signal }).then(() => (answered = true))
  await job.ended
  await Promise.resolve()
  expect(answered).toBe(false)
  expect(rig.records.get(job.id)).toMatchObject({ state: 'accepted' })
  job.settle()
  await finished
  expect(rig.records.get(job.id)).toMatchObject({ state: 'over', finished_fence: offer.fence })
})

test('keeps no token and no description longer than the runner needs it', async () => {
  const rig = createRig()
  rig.offer()
  const offer = await rig.take()
  await rig.accept(offer)
  const kept = JSON.stringify(rig.records.get(offer.job_id))
  expect(kept).toContain('Do it.')
  expect(kept).not.toContain('svc_secret')
  expect(kept).not.toContain(`"${offer.token}"`)
  await rig.jobs.beat(call(offer), beatOf(offer), { signal })
  expect(rig.records.get(offer.job_id)?.spec).toBeNull()
})

test('goes on after a restart of the service where it was', async () => {
  const rig = createRig()
  const job = rig.offer()
  const offer = await rig.take()
  await rig.accept(offer)
  await rig.jobs.beat(call(offer), beatOf(offer), { signal })
  const log = (offset: number, text: string) =>
    rig.jobs.log(call(offer), { name: 'events', offset, fence: offer.fence }, Buffer.from(text))
  await log(0, 'one\ntw')
  job.input({ kind: 'keys', data: 'y' })
  job.input({ kind: 'keys', data: 'n' })
  expect((await rig.jobs.beat(call(offer), beatOf(offer, 1), { signal })).inputs.map((one) => one.n)).toEqual([2])

  const taken = rig.restart()
  expect(taken.id).toBe(job.id)
  expect([taken.isLinkLost(), rig.links.at(-1)]).toEqual([true, 'lost'])
  rig.wait(590)
  const { inputs } = await rig.jobs.beat(call(offer), beatOf(offer, 1), { signal })
  expect(inputs).toEqual([{ n: 2, kind: 'keys', data: 'n' }])
  expect([taken.isLinkLost(), rig.links.at(-1)]).toEqual([false, 'connected'])
  // What had no mark is sent again.
  expect(await codeOf(() => log(6, 'o\n'))).toBe('offset_mismatch')
  await log(4, 'two\n')
  taken.input({ kind: 'keys', data: 'z' })
  expect((await rig.jobs.beat(call(offer), beatOf(offer, 2), { signal })).inputs.map((one) => one.n)).toEqual([3])
  await rig.jobs.finish(call(offer), finishOf(offer, { events: 8 }), { signal })
  expect(await taken.ended).toMatchObject({ kind: 'finished' })
  rig.jobs.close()
})

test('describes the job again after a restart, to a runner that has not heard it', async () => {
  const rig = createRig()
  rig.offer()
  const offer = await rig.take()
  await rig.accept(offer)
  rig.restart()
  expect(await rig.accept(offer)).toMatchObject({
    prompt: 'Do it.',
    env: { SVC_API_TOKEN: 'another', COLOR: 'red' },
  })
  rig.jobs.close()
})

test('loses a run after a restart once it is out of contact for too long, or none takes it up', async () => {
  const rig = createRig()
  rig.offer()
  const offer = await rig.take()
  await rig.accept(offer)
  const taken = rig.restart()
  rig.wait(610)
  expect(await taken.ended).toMatchObject({ kind: 'lost' })
  expect(await codeOf(() => rig.jobs.beat(call(offer), beatOf(offer), { signal }))).toBe('lease_lost')

  rig.offer()
  const other = await rig.take()
  await rig.accept(other)
  rig.jobs.close()
  rig.jobs = rig.create()
  rig.jobs.start()
  expect(await codeOf(() => rig.jobs.beat(call(other), beatOf(other), { signal }))).toBe('lease_lost')
  expect(await rig.jobs.find(other.job_id, other.token)).toMatchObject({ access: 'late' })
  rig.jobs.close()
})

test('says lease_lost for a day, also after restarts, and repeats the answer to a finish', async () => {
  const rig = createRig()
  rig.offer()
  const offer = await rig.take()
  await rig.accept(offer)
  await rig.jobs.finish(call(offer), finishOf(offer), { signal })
  rig.jobs.close()
  rig.jobs = rig.create()
  await rig.jobs.finish(call(offer), finishOf(offer), { signal })
  const beat = () => rig.jobs.beat(call(offer), beatOf(offer), { signal })
  expect(await codeOf(beat)).toBe('lease_lost')
  rig.sleep(23 * 3_600)
  expect(await codeOf(beat)).toBe('lease_lost')
  rig.sleep(2 * 3_600)
  expect(await codeOf(beat)).toBe('invalid_token')
})

test('ends steps with the service, and withdraws what has not begun', async () => {
  const rig = createRig()
  const steps = rig.offer(undefined, 'steps')
  const offer = await rig.take()
  await rig.accept(offer)
  const waiting = rig.offer('byHand')
  rig.jobs.close()
  expect(await steps.ended).toMatchObject({ kind: 'lost' })
  expect(await waiting.ended).toEqual({ kind: 'withdrawn' })
  expect(rig.records.get(offer.job_id)).toMatchObject({ state: 'over', fence: offer.fence + 1 })
})

test('loses a job that another process had once it is no longer named', async () => {
  const rig = createRig()
  const job = rig.offer()
  const offer = await rig.take()
  await rig.accept(offer)
  rig.jobs.unlinked(seeker)
  const report = { instance: 'b', protocol: jobProtocol, wait_seconds: 0 }
  await rig.jobs.next(seeker, { ...report, jobs: [offer.job_id] }, { signal })
  await rig.jobs.next(seeker, { ...report, jobs: [offer.job_id] }, { signal })
  expect(rig.jobs.isOpen(offer.job_id)).toBe(true)
  await rig.jobs.next(seeker, { ...report, jobs: [] }, { signal })
  expect(await job.ended).toEqual({ kind: 'lost', why: 'Its runner has ended.' })
})

test('loses the jobs of a runner’s process that ended, but for those that the next one names', async () => {
  const rig = createRig()
  const first = rig.offer()
  const one = await rig.take()
  await rig.accept(one)
  const second = rig.offer()
  const two = await rig.take()
  await rig.accept(two)
  const report = { instance: 'b', protocol: jobProtocol, wait_seconds: 0, jobs: [two.job_id] }
  expect(await codeOf(() => rig.jobs.next(seeker, report, { signal }))).toBe('runner_taken')
  rig.jobs.unlinked(seeker)
  await rig.jobs.next(seeker, report, { signal })
  expect(await first.ended).toEqual({ kind: 'lost', why: 'Its runner has ended.' })
  await rig.jobs.finish(call(two), finishOf(two), { signal })
  expect(await second.ended).toMatchObject({ kind: 'finished' })
})
