import { expect, test } from 'vitest'
import { notificationKinds, type NotificationKind } from '../../../src-shared/contract/notification-types.ts'
import type { Notification } from '../../../src-shared/contract/notifications.ts'
import type { EventPayload } from '../../../src-shared/contract/events.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { addMember, register } from '../../helpers/membership.ts'
import { refusalOf, refused } from '../../helpers/refusal.ts'
import { present } from '../../helpers/present.ts'

const unknown = '01990000-0000-7000-8000-00000000ffff'

/** Takes a task by hand to a review that passes at once: one notification. */
async function passReview(job: Job, title: string): Promise<Task> {
  const { client } = job.running
  const task = await job.task({ title })
  const { execution } = await client.call('tasks.claim', { task_id: task.id })
  await job.running.eventually(
    () => client.call('executions.get', { execution_id: present(execution).id }),
    (one) => one.status === 'running',
  )
  await client.call('executions.finish', { execution_id: present(execution).id, status: 'succeeded' })
  return job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
}

const list = async (client: Job['running']['client'], more: { project_id?: string; read?: boolean } = {}) =>
  (await client.call('notifications.list', more)).items
const titles = (items: readonly Notification[]) => items.map((one) => one.title)

test.concurrent('stores and emits a milestone, and lists the newest first', async () => {
  // The clock advances with every look, so that two looks never agree.
  let time = Date.now()
  await using job = await startJob({ clock: { now: () => (time += 1) } })
  const { client } = job.running
  const task = await passReview(job, 'Add numbers')
  await client.call('tasks.transition', { task_id: task.id, status: 'merging', version: task.version })
  const items = await list(client)
  expect(items.map((one) => [one.event_type, one.title, one.read])).toEqual([
    ['task.done', '“Add numbers” is done', true],
    ['review.passed', '“Add numbers” is ready for your review', false],
  ])
  const heard: EventPayload<'notification.created'>[] = []
  for await (const item of client.events({}, 0, AbortSignal.timeout(30_000))) {
    if (item.kind !== 'event' || item.event.type !== 'notification.created') continue
    heard.push(item.event.data)
    if (heard.length === 2) break
  }
  expect(heard.toReversed()).toEqual(
    items.map(({ id, read: _, created_at, ...told }) => ({ notification_id: id, occurred_at: created_at, ...told })),
  )
})

test.concurrent('reports a failed review with its feedback, secrets redacted', async () => {
  await using job = await startJob()
  const { client } = job.running
  await job.settings({ redaction_patterns: ['shibboleth-[0-9]+'] })
  const task = await passReview(job, 'Add numbers')
  const guest = await register(job.running, 'Grace')
  await addMember(job.running, job.project.id, guest.user_id, 'member')
  const before = await list(client)
  const fail = { task_id: task.id, verdict: 'fail', feedback: 'It prints shibboleth-42' } as const
  await client.call('tasks.verdict', fail)
  // For the author of the verdict it is read from the start, and ends what the inbox said before.
  const [own, ...others] = await list(client)
  expect(own).toMatchObject({ event_type: 'review.failed', caused_by: 'user:owner', read: true })
  expect(others).toEqual(before)
  expect((await client.call('notifications.list', { newest: true })).items).toEqual([])
  expect(await client.call('notifications.unread_count', {})).toEqual({ count: 0 })
  expect(await guest.client.call('notifications.unread_count', {})).toEqual({ count: 1 })
  expect((await list(guest.client))[0]).toMatchObject({
    event_type: 'review.failed',
    title: '“Add numbers” failed review',
    body: 'It prints [redacted]',
    task_id: task.id,
    caused_by: 'user:owner',
  })
})

test.concurrent('keeps a notification unread for others when one person reads it, and deletes it for all', async () => {
  await using job = await startJob()
  const { client } = job.running
  const guest = await register(job.running, 'Grace')
  await addMember(job.running, job.project.id, guest.user_id, 'member')
  for (const title of ['One', 'Two', 'Three']) await passReview(job, title)
  const [three, two, one] = await list(client)
  if (!one || !two || !three) throw new Error('Some notifications are missing.')
  const count = async () => [
    (await client.call('notifications.unread_count', {})).count,
    (await guest.client.call('notifications.unread_count', { project_id: job.project.id })).count,
  ]
  expect(await client.call('notifications.mark_read', { notification_id: two.id })).toEqual({ ...two, read: true })
  expect(await client.call('notifications.mark_read', { notification_id: two.id })).toEqual({ ...two, read: true })
  expect(await count()).toEqual([2, 3])
  expect(titles(await list(client, { read: true }))).toEqual([two.title])
  expect(titles(await list(client, { read: false }))).toEqual([three.title, one.title])
  expect(await list(guest.client)).toEqual([three, two, one])
  await guest.client.call('notifications.mark_all_read', {})
  expect(await count()).toEqual([2, 0])
  await guest.client.call('notifications.delete', { notification_id: three.id })
  expect(titles(await list(client))).toEqual([two.title, one.title])
  expect(await refusalOf(client.call('notifications.delete', { notification_id: three.id }))).toBe('not_found')
  await client.call('tasks.delete', { task_id: one.task_id })
  expect(titles(await list(client))).toEqual([two.title])
})

test.concurrent('shows one row per task in the inbox, with its newest notification', async () => {
  await using job = await startJob()
  const { client } = job.running
  const one = await passReview(job, 'One')
  const two = await passReview(job, 'Two')
  await client.call('tasks.transition', { task_id: one.id, status: 'merging', version: one.version })
  const guest = await register(job.running, 'Grace')
  await addMember(job.running, job.project.id, guest.user_id, 'member')
  const inbox = async (more: { read?: boolean; kind?: NotificationKind; limit?: number; cursor?: string } = {}) =>
    guest.client.call('notifications.list', { newest: true, ...more })
  // Who merged it themself has no row, not even of the review before.
  const own = await client.call('notifications.list', { newest: true })
  expect(titles(own.items)).toEqual(['“Two” is ready for your review'])
  expect(await client.call('notifications.unread_count', {})).toEqual({ count: 1 })
  expect(titles((await inbox()).items)).toEqual(['“One” is done', '“Two” is ready for your review'])
  expect(titles(await list(client))).toHaveLength(3)
  const first = await inbox({ limit: 1 })
  expect(first).toMatchObject({ has_more: true, items: [{ task_id: one.id }] })
  const next = await inbox({ limit: 1, cursor: first.next_cursor ?? '' })
  expect(next).toMatchObject({ has_more: false, items: [{ task_id: two.id }] })
  // Earlier notifications of a task have no row, read or not.
  expect(titles((await inbox({ kind: 'needs_you' })).items)).toEqual(['“Two” is ready for your review'])
  await guest.client.call('notifications.mark_read', { notification_id: first.items[0]?.id ?? '' })
  expect(titles((await inbox({ read: false })).items)).toEqual(['“Two” is ready for your review'])
  expect(await guest.client.call('notifications.unread_count', {})).toEqual({ count: 1 })
})

test.concurrent('hides the notifications of other people’s projects', async () => {
  await using job = await startJob()
  const { client } = job.running
  const stranger = await register(job.running, 'Mallory')
  await passReview(job, 'One')
  const [item] = await list(client)
  const project_id = job.project.id
  const notification_id = item?.id ?? ''
  expect(await list(stranger.client)).toEqual([])
  expect(await stranger.client.call('notifications.unread_count', {})).toEqual({ count: 0 })
  await stranger.client.call('notifications.mark_all_read', {})
  const intrusions = [
    stranger.client.call('notifications.list', { project_id }),
    stranger.client.call('notifications.unread_count', { project_id }),
    stranger.client.call('notifications.mark_all_read', { project_id }),
    stranger.client.call('notifications.mark_read', { notification_id }),
    stranger.client.call('notifications.delete', { notification_id }),
  ]
  expect(new Set(await Promise.all(intrusions.map(refusalOf)))).toEqual(new Set(['not_a_member']))
  const missing = await refused(client.call('notifications.mark_read', { notification_id: unknown }))
  expect([missing.code, missing.details]).toEqual(['not_found', { resource: 'notification' }])
  expect(await refusalOf(client.call('notifications.list', { project_id: unknown }))).toBe('not_found')
  expect(await refusalOf(job.running.clientWith(null).call('notifications.list', {}))).toBe('missing_token')
  expect(await list(client)).toEqual([item])
})

test.concurrent('pages without a gap, even when new ones arrive', async () => {
  await using job = await startJob()
  const { client } = job.running
  for (const title of ['One', 'Two', 'Three']) await passReview(job, title)
  const all = await list(client)
  const first = await client.call('notifications.list', { limit: 2 })
  expect([first.items, first.has_more]).toEqual([all.slice(0, 2), true])
  await passReview(job, 'Four')
  const cursor = first.next_cursor ?? ''
  const rest = await client.call('notifications.list', { limit: 2, cursor })
  expect(rest).toEqual({ items: all.slice(2), has_more: false, next_cursor: null })
  for (const bad of ['x', `${unknown}`, '2026-11-21T09:30:00.000Z_x', '__proto__']) {
    expect(await refusalOf(client.call('notifications.list', { cursor: bad }))).toBe('validation_failed')
  }
})

test.concurrent('marks all of the query’s project as read, and of no other', async () => {
  await using job = await startJob()
  await using repository = await createTestRepository()
  const { client } = job.running
  const other = await client.call('projects.create', { name: 'Other', repo_path: repository.path })
  await passReview(job, 'One')
  const { id: task_id } = await client.call('tasks.create', { project_id: other.id, title: 'Two' })
  await client.call('tasks.claim', { task_id })
  const { version } = await job.running.taskWhere(task_id, (one) => !one.entry_barrier)
  await client.call('tasks.transition', { task_id, status: 'blocked', version })
  const blocked = await job.running.eventually(
    () => list(client, { project_id: other.id }),
    (items) => items.length === 1,
  )
  expect((await list(client)).map((one) => one.id)).toContain(blocked[0]?.id)
  const post = async (query: string) => {
    const response = await fetch(`${job.running.url}/api/v1/notifications/mark-all-read${query}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${job.running.token}` },
    })
    return [response.status, await response.text()]
  }
  const unread = async () => (await client.call('notifications.unread_count', {})).count
  const inOther = async () => (await client.call('notifications.unread_count', { project_id: other.id })).count
  expect([await unread(), await inOther()]).toEqual([2, 1])
  expect(await post(`?project_id=${other.id}`)).toEqual([204, ''])
  expect(await inOther()).toBe(0)
  expect(await unread()).toBe(1)
  expect((await post('?project_id=nonsense'))[0]).toBe(400)
  expect(await unread()).toBe(1)
  expect(await post(`?project_id=${job.project.id}`)).toEqual([204, ''])
  expect(await unread()).toBe(0)
  await passReview(job, 'Two')
  expect(await post('')).toEqual([204, ''])
  expect(await unread()).toBe(0)
})

/** The notification events of a client, up to the creation of the task `marker`. */
async function heardBy(client: Job['running']['client'], marker: string) {
  const heard: unknown[] = []
  for await (const item of client.events({}, 0, AbortSignal.timeout(60_000))) {
    if (item.kind !== 'event') continue
    const { type, data } = item.event
    if (type === 'task.created' && data.task_id === marker) return heard
    if (type === 'notification.read') heard.push([data.notification_id, data.user_id, data.read])
    if (type === 'notification.deleted') heard.push([data.notification_id, data.task_id, 'deleted'])
  }
  throw new Error('The events ended.')
}

test.concurrent('sends reads to the reader’s own windows, and deletions to everyone, once', async () => {
  await using job = await startJob()
  const { client } = job.running
  const me = await client.call('auth.me', {})
  const guest = await register(job.running, 'Grace')
  await addMember(job.running, job.project.id, guest.user_id, 'member')
  await passReview(job, 'One')
  await passReview(job, 'Two')
  const [two, one] = await list(client)
  const notification_id = two?.id ?? ''
  for (const again of [true, false]) {
    expect(await client.call('notifications.mark_read', { notification_id })).toEqual({ ...two, read: true })
    if (again) expect(await client.call('notifications.mark_unread', { notification_id })).toEqual(two)
  }
  await client.call('notifications.mark_read', { notification_id })
  await client.call('notifications.mark_all_read', {})
  await client.call('notifications.mark_all_read', {})
  await guest.client.call('notifications.mark_all_read', { project_id: job.project.id })
  await guest.client.call('notifications.delete', { notification_id })
  const marker = await job.task({ title: 'Marker' })
  const deleted = [two?.id, two?.task_id, 'deleted']
  expect(await heardBy(client, marker.id)).toEqual([
    [two?.id, me.id, true],
    [two?.id, me.id, false],
    [two?.id, me.id, true],
    [null, me.id, true],
    deleted,
  ])
  expect(await heardBy(guest.client, marker.id)).toEqual([[null, guest.user_id, true], deleted])
  expect(await list(client)).toEqual([{ ...one, read: true }])
})

test.concurrent('lists separately what needs a person, what failed and what is finished', async () => {
  await using job = await startJob()
  const { client } = job.running
  const task = await passReview(job, 'One')
  const guest = await register(job.running, 'Grace')
  await addMember(job.running, job.project.id, guest.user_id, 'member')
  await client.call('tasks.verdict', { task_id: task.id, verdict: 'fail', feedback: 'No.' })
  const typesOf = async (kind: NotificationKind) =>
    (await guest.client.call('notifications.list', { kind })).items.map((one) => one.event_type)
  expect(await Promise.all(notificationKinds.map(typesOf))).toEqual([['review.passed'], ['review.failed'], []])
})

test.concurrent('reports a run that failed for good, once, and no stop by a person', async () => {
  await using job = await startJob()
  const { client } = job.running
  const task = await job.task({ title: 'Fail' })
  await job.claim(task, await job.agent('echo broken >&2; exit 3'))
  await job.running.taskWhere(task.id, (one) => one.error_annotation?.type === 'execution_failed')
  const failures = async () => (await list(client)).filter(({ event_type }) => event_type === 'execution.failed')
  expect(await failures()).toMatchObject([{ title: '“Fail”: the agent failed', task_id: task.id, read: false }])
  const other = await job.task({ title: 'Stop' })
  const { execution } = await job.claim(other, await job.agent('sleep 100', 'Sleeper'))
  await job.running.taskWhere(other.id, (one) => one.active_execution_id !== null)
  await client.call('executions.stop', { execution_id: execution.id })
  await job.running.taskWhere(other.id, (one) => one.error_annotation?.type === 'execution_paused')
  expect(await failures()).toHaveLength(1)
})
