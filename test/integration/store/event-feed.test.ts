import { expect, test } from 'vitest'
import { createEventFeed } from '../../../src-main/core/event-feed.ts'
import type { TaskId } from '../../../src-shared/contract/ids.ts'
import { at, openStore } from './open-store.ts'

test('sends the last 10,000 missed events, and says that older ones are gone', async () => {
  await using open = await openStore()
  const { id: task_id } = open.task()
  const { project_id } = open
  const feed = createEventFeed(open.store, { now: () => Date.parse(at) })
  const commit = (count: number) =>
    feed.commit((tx) => {
      for (let made = 0; made < count; made++) tx.emit('task.deleted', { project_id, task_id: task_id as TaskId })
    })
  for (let commits = 0; commits < 40; commits++) commit(1_000)
  const { first, last } = open.store.read.events.range()
  expect([first > 1, last]).toEqual([true, 40_000])

  const end = new AbortController()
  let expected = last - 10_000
  for await (const item of feed.subscribe(expected, () => true, end.signal)) {
    if (item.kind === 'begun') continue
    if (item.kind !== 'event') throw new Error(`It was answered with ${item.kind}.`)
    expected += 1
    // One comparison, because a matcher for 10,000 is slow.
    if (item.event.seq !== expected) throw new Error(`${item.event.seq} came where ${expected} was due.`)
    if (expected === last) break
  }
  end.abort()

  const late = new AbortController()
  const items = feed.subscribe(1, () => true, late.signal)[Symbol.asyncIterator]()
  expect([(await items.next()).value, (await items.next()).value]).toEqual([
    { kind: 'begun', seq: 1 },
    { kind: 'reset', seq: last },
  ])
  late.abort()
})

test('says first where a subscription begins, and resumes from there without loss', async () => {
  await using open = await openStore()
  const feed = createEventFeed(open.store, { now: () => Date.parse(at) })
  const { id: task_id } = open.task()
  const tell = () =>
    feed.commit((tx) => tx.emit('task.deleted', { project_id: open.project_id, task_id: task_id as TaskId }))
  tell()
  const { last } = open.store.read.events.range()
  const end = new AbortController()
  const items = feed.subscribe(null, () => true, end.signal)[Symbol.asyncIterator]()
  expect((await items.next()).value).toEqual({ kind: 'begun', seq: last })
  tell()
  expect((await items.next()).value).toMatchObject({ kind: 'event', event: { seq: last + 1 } })
  end.abort()
})
