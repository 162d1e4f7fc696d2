import { v7 } from 'uuid'
import { expect, test } from 'vitest'
import type { NotificationFilter, NotificationRecord } from '../../../src-main/ports/notification-queries.ts'
import type { TaskRecord } from '../../../src-main/ports/task-queries.ts'
import type { NotificationId, ProjectId } from '../../../src-shared/contract/ids.ts'
import { anotherProject, at, deleteProject, openStore, type OpenStore } from './open-store.ts'

function notification(task: TaskRecord, more: Partial<NotificationRecord> = {}): NotificationRecord {
  const { id: task_id, project_id } = task
  return {
    id: v7() as NotificationId,
    event_type: 'task.done',
    title: 'T',
    body: null,
    project_id,
    task_id,
    created_at: at,
    caused_by: null,
    ...more,
  }
}

function put(open: OpenStore, records: readonly NotificationRecord[]): void {
  open.store.write((q) => {
    for (const record of records) q.notifications.put(record)
  })
}

/** A task of another project. */
const taskElsewhere = (open: OpenStore) => open.task({ project_id: anotherProject(open) })

function ids(open: OpenStore, filter: Partial<NotificationFilter>): string[] {
  const all = { reader: 'operator', project_ids: [open.project_id], read: null, types: null, after: null, limit: 50 }
  return open.store.read.notifications.list({ ...all, ...filter }).map((one) => one.id)
}

test('counts a task as unread by its newest notification, which the inbox shows', async () => {
  await using open = await openStore()
  const task = open.task()
  const [older, newest] = [notification(task), notification(task)]
  put(open, [older, newest])
  const count = (actor?: string) => open.store.read.notifications.unreadCount('operator', [open.project_id], actor)
  expect(count()).toBe(1)
  open.store.write((q) => void q.notifications.markRead(newest.id, 'operator'))
  expect(count()).toBe(0)
  // The reader's own actions don't count as their newest.
  put(open, [notification(task, { caused_by: 'user:ada' })])
  expect([count(), count('user:ada')]).toEqual([1, 0])
})

test('keeps marks per reader', async () => {
  await using open = await openStore()
  const task = open.task()
  const records = [notification(task), notification(task, { event_type: 'merge.failed', body: 'a.ts' })]
  const [first, second] = records.map((one) => one.id)
  put(open, records)
  open.store.write((q) => {
    q.notifications.markRead(first ?? ('' as NotificationId), 'operator')
    q.notifications.markRead(first ?? ('' as NotificationId), 'operator')
  })
  const { notifications } = open.store.read
  const ada = v7()
  expect(
    notifications.list({
      reader: 'operator',
      project_ids: [open.project_id],
      read: null,
      types: null,
      after: null,
      limit: 9,
    }),
  ).toEqual([
    { ...records[1], read: false },
    { ...records[0], read: true },
  ])
  expect([ids(open, { read: true }), ids(open, { read: false })]).toEqual([[first], [second]])
  expect([ids(open, { reader: ada, read: true }), ids(open, { reader: ada, read: false })]).toEqual([
    [],
    [second, first],
  ])
  expect(['operator', ada].map((reader) => notifications.unreadCount(reader, [open.project_id]))).toEqual([1, 1])
  expect(['operator', ada].map((reader) => notifications.isRead(records[0]?.id as never, reader))).toEqual([
    true,
    false,
  ])
})

test('marks all as read in the given projects for one reader', async () => {
  await using open = await openStore()
  const [here, there] = [open.task(), taskElsewhere(open)]
  const projects = [here.project_id, there.project_id]
  put(open, [notification(here), notification(here), notification(there)])
  const { notifications } = open.store.read
  const mark = (project_ids: ProjectId[]) => {
    open.store.write((q) => {
      q.notifications.markAllRead('operator', project_ids)
    })
  }
  mark([])
  // Two of them belong to one task.
  expect(notifications.unreadCount('operator', projects)).toBe(2)
  mark([here.project_id])
  expect(projects.map((one) => notifications.unreadCount('operator', [one]))).toEqual([0, 1])
  mark(projects)
  mark(projects)
  expect(notifications.unreadCount('operator', projects)).toBe(0)
  expect(notifications.unreadCount('somebody', projects)).toBe(2)
  put(open, [notification(there)])
  expect(notifications.unreadCount('operator', projects)).toBe(1)
  expect(notifications.unreadCount('operator', [])).toBe(0)
})

test('pages through each once, newest first, even of the same moment', async () => {
  await using open = await openStore()
  const [here, there, hidden] = [open.task(), taskElsewhere(open), taskElsewhere(open)]
  const time = (index: number) => `2026-11-21T09:30:00.00${Math.floor(index / 9)}Z`
  const records = Array.from({ length: 27 }, (_, index) =>
    notification([here, there, hidden][index % 3] ?? here, { created_at: time(index) }),
  )
  put(open, records.toReversed())
  const shown = (project_ids: ProjectId[], read: boolean | null) => {
    const seen: string[] = []
    let after: NotificationFilter['after'] = null
    for (;;) {
      const page = open.store.read.notifications.list({
        reader: 'operator',
        project_ids,
        read,
        types: null,
        after,
        limit: 4,
      })
      seen.push(...page.map((one) => one.id))
      const last = page.at(-1)
      if (!last || page.length < 4) return seen
      after = { created_at: last.created_at, id: last.id }
    }
  }
  const newestFirst = records.toReversed()
  const expected = (projects: ProjectId[]) =>
    newestFirst.filter((one) => projects.includes(one.project_id)).map((one) => one.id)
  const both = [here.project_id, there.project_id]
  expect(shown(both, null)).toEqual(expected(both))
  expect(shown([there.project_id], false)).toEqual(expected([there.project_id]))
  expect(shown(both, true)).toEqual([])
})

test('deletes notifications with their task and project, and marks with them', async () => {
  await using open = await openStore()
  const [task, kept, there] = [open.task(), open.task(), taskElsewhere(open)]
  const records = [notification(task), notification(kept), notification(there)]
  put(open, records)
  open.store.write((q) => {
    for (const { id } of records) q.notifications.markRead(id, 'operator')
    q.tasks.delete(task.id)
  })
  deleteProject(open, there.project_id)
  const { notifications } = open.store.read
  expect(records.map(({ id }) => notifications.get(id))).toEqual([null, records[1], null])
  expect(records.map(({ id }) => notifications.isRead(id, 'operator'))).toEqual([false, true, false])
  open.store.write((q) => {
    q.notifications.delete(records[1]?.id as never)
  })
  expect(ids(open, {})).toEqual([])
  expect(open.database.db.$client.prepare('SELECT count(*) FROM notification_reads').pluck().get()).toBe(0)
})

test('refuses a mark on a missing notification', async () => {
  await using open = await openStore()
  expect(() => {
    open.store.write((q) => {
      q.notifications.markRead(v7() as NotificationId, 'operator')
    })
  }).toThrow('FOREIGN KEY')
})

test('filters by type, and says whether a mark changed anything', async () => {
  await using open = await openStore()
  const task = open.task()
  const records = [notification(task), notification(task, { event_type: 'merge.failed' })]
  put(open, records)
  const [done, failed] = records.map((one) => one.id as string)
  expect(ids(open, { types: ['task.done', 'review.passed'] })).toEqual([done])
  expect(ids(open, { types: ['merge.failed'], read: false })).toEqual([failed])
  expect(ids(open, { types: [] })).toEqual([])
  const id = done as NotificationId
  const changes = open.store.write((q) => [
    q.notifications.markUnread(id, 'operator'),
    q.notifications.markRead(id, 'operator'),
    q.notifications.markRead(id, 'operator'),
    q.notifications.markUnread(id, 'somebody'),
    q.notifications.markUnread(id, 'operator'),
    q.notifications.markAllRead('operator', [open.project_id]),
    q.notifications.markAllRead('operator', [open.project_id]),
  ])
  expect(changes).toEqual([false, true, false, false, true, 2, 0])
})
