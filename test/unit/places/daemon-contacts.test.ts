import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createDaemonContacts } from '../../../src-main/places/daemon-contacts.ts'
import type { JobId, RunnerId } from '../../../src-shared/contract/ids.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

const runner = { id: '0197f1c0-0000-7000-8000-000000000001' as RunnerId, name: 'Box' }
const job = (taken: Promise<void>, more = {}) => ({
  id: '0197f1c0-0000-7000-8000-000000000002' as JobId,
  kind: 'run' as const,
  isHeld: false,
  taken,
  ...more,
})
const report = { instance: 'a', protocol: 1, wait_seconds: 0, jobs: [] }
const { signal } = new AbortController()

function createRig() {
  const unreached: string[] = []
  const contacts = createDaemonContacts({
    jobs: {
      next: () => Promise.resolve([]),
      lose: () => undefined,
      unreached: (_id, why) => void unreached.push(why),
    },
    containmentAt: () => null,
  })
  return { contacts, unreached, report: () => contacts.offers(runner.id, report, { signal }) }
}

test('has a run queued again once its machine has been silent for half a minute', async () => {
  const { contacts, unreached, report } = createRig()
  await report()
  vi.advanceTimersByTime(10_000)
  contacts.carry(runner, job(Promise.withResolvers<void>().promise))
  vi.advanceTimersByTime(15_000)
  // It is heard once more, and then it is dead.
  await report()
  vi.advanceTimersByTime(29_000)
  expect(unreached).toEqual([])
  vi.advanceTimersByTime(2_000)
  expect(unreached).toEqual(['Box isn’t connected.'])
  vi.advanceTimersByTime(600_000)
  expect(unreached).toHaveLength(1)
})

test('looks no longer once the run is taken, and never at steps or at what the machine has', async () => {
  const { contacts, unreached, report } = createRig()
  const never = Promise.withResolvers<void>().promise
  contacts.carry(runner, job(never, { kind: 'steps' }))
  contacts.carry(runner, job(never, { isHeld: true }))
  await report()
  const taken = Promise.withResolvers<void>()
  contacts.carry(runner, job(taken.promise))
  taken.resolve()
  await taken.promise
  vi.advanceTimersByTime(600_000)
  expect(unreached).toEqual([])
})

test('has a run queued again at once that starts on a machine that was not heard', () => {
  const { contacts, unreached } = createRig()
  contacts.carry(runner, job(Promise.withResolvers<void>().promise))
  expect(unreached).toEqual(['Box isn’t connected.'])
})
