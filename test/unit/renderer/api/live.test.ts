import { expect, test } from 'vitest'
import { retryDelay, openEventStream, type Connection } from '../../../../src-renderer/api/live.ts'
import type { Client } from '../../../../src-shared/client/create-client.ts'
import type { FeedItem } from '../../../../src-shared/contract/events.ts'
import { taskOf } from '../task-fixture.ts'

const task = taskOf(1)
const event = (seq: number): FeedItem => ({
  kind: 'event',
  event: {
    seq,
    type: 'task.updated',
    data: { project_id: task.project_id, task_id: task.id, occurred_at: task.updated_at, task },
  },
})

/** One connection of the feed, driven by the test. */
interface Feed {
  readonly after: number | null
  push(item: FeedItem): void
  end(): void
}

function setUp(begins = Promise.resolve()) {
  const feeds: Feed[] = []
  const seen: string[] = []
  const waits: number[] = []
  const waiters: (() => void)[] = []
  let away = false
  /** Whether the next loads are complete; all others are. */
  const loads: boolean[] = []
  const changed = new EventTarget()
  const note = (what: string) => {
    seen.push(what)
    changed.dispatchEvent(new Event('seen'))
  }
  const client: Client = {
    call: () => {
      throw new Error('not asked for here')
    },
    events: (_input, after, signal) => feedOf(after, signal),
    transcript: () => {
      throw new Error('not asked for here')
    },
  }
  async function* feedOf(after: number | null, signal: AbortSignal): AsyncGenerator<FeedItem> {
    if (away) throw new Error('away')
    const items: (FeedItem | null)[] = []
    let wake: () => void = () => undefined
    const put = (item: FeedItem | null) => {
      items.push(item)
      wake()
    }
    signal.addEventListener('abort', () => put(null))
    feeds.push({ after, push: put, end: () => put(null) })
    await begins
    yield { kind: 'begun', seq: after ?? 5 }
    for (;;) {
      if (items.length === 0) await new Promise<void>((resolve) => (wake = resolve))
      const item = items.shift()
      if (!item) return
      yield item
    }
  }
  const live = openEventStream({
    client,
    onEvent: ({ seq }) => note(`event ${seq}`),
    onActivity: () => note('activity'),
    onWorktree: () => note('worktree'),
    onHook: ({ log_name }) => note(`hook ${log_name}`),
    onReset: async () => {
      note('reset')
      return loads.shift() ?? true
    },
    onConnection: (connection: Connection) => note(connection.state),
    now: () => 5_000,
    wait: (ms, signal) =>
      new Promise((resolve) => {
        waits.push(ms)
        waiters.push(resolve)
        signal.addEventListener('abort', () => resolve())
      }),
  })
  /** Resolves once `what` was seen for the `count`-th time. */
  async function until(what: string, count = 1): Promise<void> {
    while (seen.filter((one) => one === what).length < count)
      await new Promise((resolve) => changed.addEventListener('seen', resolve, { once: true }))
  }
  return { live, feeds, seen, loads, waits, waiters, until, setAway: (next: boolean) => (away = next) }
}

test('loads everything once connected, then passes events on', async () => {
  const { live, feeds, seen, until } = setUp()
  await until('reset')
  feeds[0]?.push(event(7))
  await until('event 7')
  feeds[0]?.push({ kind: 'worktree', change: {} as never })
  await until('worktree')
  feeds[0]?.push({ kind: 'hook', hook: { log_name: 'hook-before_work-0-1.jsonl' } as never })
  await until('hook hook-before_work-0-1.jsonl')
  expect(seen).toEqual(['connecting', 'live', 'reset', 'event 7', 'worktree', 'hook hook-before_work-0-1.jsonl'])
  expect(feeds[0]?.after).toBeNull()
  live.close()
})

test('loads nothing before the subscription has begun, because changes would be missed', async () => {
  const begins = Promise.withResolvers<void>()
  const { live, seen, until } = setUp(begins.promise)
  await new Promise((resolve) => setImmediate(resolve))
  expect(seen).toEqual(['connecting'])
  begins.resolve()
  await until('reset')
  live.close()
})

test('resumes after the last number seen when the connection is lost, without loading again', async () => {
  const { live, feeds, seen, waiters, until } = setUp()
  await until('reset')
  feeds[0]?.push(event(7))
  await until('event 7')
  feeds[0]?.end()
  await until('reconnecting')
  waiters[0]?.()
  await until('live', 2)
  expect(feeds[1]?.after).toBe(7)
  expect(seen.filter((one) => one === 'reset')).toHaveLength(1)
  live.close()
})

test('resumes where it began if the connection is lost before the first event', async () => {
  const { live, feeds, waiters, until, seen } = setUp()
  await until('reset')
  feeds[0]?.end()
  await until('reconnecting')
  waiters[0]?.()
  await until('live', 2)
  expect(feeds[1]?.after).toBe(5)
  expect(seen).toEqual(['connecting', 'live', 'reset', 'reconnecting', 'live'])
  live.close()
})

test('loads again with the next connection what failed after a reset', async () => {
  const { live, feeds, seen, loads, waiters, until } = setUp()
  await until('reset')
  loads.push(false, false, true)
  feeds[0]?.push({ kind: 'reset', seq: 90 })
  await until('reset', 2)
  for (const [turn, resets] of [3, 4, 4].entries()) {
    feeds[turn]?.end()
    await until('reconnecting', turn + 1)
    waiters[turn]?.()
    await until('live', turn + 2)
    feeds[turn + 1]?.push(event(100 + turn))
    await until(`event ${100 + turn}`)
    expect(seen.filter((one) => one === 'reset')).toHaveLength(resets)
  }
  live.close()
})

test('loads everything on a reset by the service and continues from its number', async () => {
  const { live, feeds, waiters, until } = setUp()
  await until('reset')
  feeds[0]?.push({ kind: 'reset', seq: 90 })
  await until('reset', 2)
  feeds[0]?.end()
  await until('reconnecting')
  waiters[0]?.()
  await until('live', 2)
  expect(feeds[1]?.after).toBe(90)
  live.close()
})

test('waits longer after each failure, and starts over after a success', async () => {
  const { live, feeds, waits, waiters, until, setAway } = setUp()
  await until('reset')
  setAway(true)
  feeds[0]?.end()
  for (let turn = 1; turn <= 3; turn += 1) {
    await until('reconnecting', turn)
    if (turn < 3) waiters[turn - 1]?.()
  }
  expect(waits).toEqual(retryDelay.slice(0, 3))
  setAway(false)
  live.tryNow()
  await until('live', 2)
  feeds.at(-1)?.end()
  await until('reconnecting', 4)
  expect(waits.at(-1)).toBe(retryDelay[0])
  live.close()
})
