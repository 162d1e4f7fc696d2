import { expect, test } from 'vitest'
import type { Client } from '../../../src-shared/client/create-client.ts'
import type { FeedItem } from '../../../src-shared/contract/events.ts'
import { startJob } from '../../helpers/job.ts'

/** The events from `after` on, up to the first that `isLast` accepts. */
async function readEvents(client: Client, after: number | null, isLast: (item: FeedItem) => boolean) {
  const seen: FeedItem[] = []
  for await (const item of client.events({}, after, AbortSignal.timeout(30_000))) {
    if (item.kind !== 'begun') seen.push(item)
    if (isLast(item)) return seen
  }
  throw new Error(`The events ended early: ${JSON.stringify(seen)}`)
}

const numbers = (items: readonly FeedItem[]) => items.flatMap((item) => (item.kind === 'event' ? [item.event.seq] : []))

const isAbout = (type: string, id?: string) => (item: FeedItem) =>
  item.kind === 'event' &&
  item.event.type === type &&
  (id === undefined || ('task_id' in item.event.data && item.event.data.task_id === id))

test.concurrent('sends a returning client exactly what it missed', async () => {
  await using job = await startJob()
  const { client } = job.running
  const first = await job.task({ title: 'First' })
  const seen = await readEvents(client, 0, isAbout('task.created', first.id))
  const last = numbers(seen).at(-1) ?? 0
  const second = await job.task({ title: 'Second' })
  await client.call('tasks.transition', { task_id: second.id, status: 'todo', version: 1 })
  const third = await job.task({ title: 'Third' })
  const missed = await readEvents(client, last, isAbout('task.created', third.id))
  expect(missed.map((item) => item.kind === 'event' && [item.event.seq, item.event.type])).toEqual([
    [last + 1, 'task.created'],
    [last + 2, 'task.transitioned'],
    [last + 3, 'task.created'],
  ])
  const all = await readEvents(client, 0, isAbout('task.created', third.id))
  expect(numbers(all)).toEqual([...numbers(seen), ...numbers(missed)])
})

test.concurrent('sends only one project’s events to its stream', async () => {
  await using job = await startJob()
  const { client } = job.running
  const other = await client.call('projects.create', { name: 'Other', repo_path: job.repository.path })
  await job.task({ title: 'Not asked for' })
  const theirs = await client.call('tasks.create', { project_id: other.id, title: 'Asked for' })
  const seen: unknown[] = []
  for await (const item of client.events({ project_id: other.id }, 0, AbortSignal.timeout(30_000))) {
    if (item.kind !== 'event') continue
    seen.push(item.event.data.project_id)
    if (isAbout('task.created', theirs.id)(item)) break
  }
  expect(new Set(seen)).toEqual(new Set([other.id]))
})

test.concurrent('resets a client with a number from the future or another installation', async () => {
  await using job = await startJob()
  const { client } = job.running
  const [reset] = await readEvents(client, 1_000_000, (item) => item.kind === 'reset')
  expect(reset?.kind).toBe('reset')
})

test.concurrent('sends every change of a worktree: created, ready, waiting for clean-up', async () => {
  await using job = await startJob()
  const { client } = job.running
  const task = await job.task()
  await job.claim(task, await job.agent('echo x > x.txt; echo done'))
  await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  await client.call('tasks.cancel', { task_id: task.id })
  const isScheduled = (item: FeedItem) =>
    item.kind === 'event' && item.event.type === 'workspace.updated' && item.event.data.status === 'cleanup_scheduled'
  const seen = await readEvents(client, 0, isScheduled)
  expect(
    seen.flatMap((item) =>
      item.kind === 'event' && item.event.type === 'workspace.updated' ? [item.event.data.status] : [],
    ),
  ).toEqual(['creating', 'ready', 'cleanup_scheduled'])
})

test.concurrent('sends the events of a run in their order', async () => {
  await using job = await startJob()
  const { client } = job.running
  const task = await job.task({ review_config: { ci_steps: ['true'] } })
  await job.claim(task, await job.agent('echo x > work.txt; echo done'))
  await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  const marker = await job.task({ title: 'Marker' })
  const items = await readEvents(client, 0, isAbout('task.created', marker.id))
  const story = items.flatMap((item) => {
    if (item.kind !== 'event' || !('task_id' in item.event.data) || item.event.data.task_id !== task.id) return []
    const { event } = item
    if (event.type === 'task.transitioned') return [`${event.data.from_state} > ${event.data.to_state}`]
    if (event.type === 'workspace.updated') return [`workspace ${event.data.status}`]
    if (event.type === 'hook.finished') return [`${event.data.hook.action} ${event.data.hook.outcome}`]
    if (event.type === 'review.updated') return [`review ${event.data.review.status}`]
    return event.type === 'task.updated' ? [] : [event.type]
  })
  expect(story).toEqual([
    'task.created',
    'backlog > in_progress',
    'workspace creating',
    'workspace ready',
    'dispatch_role_agent ok',
    'execution.started',
    'execution.finished',
    'in_progress > review',
    'review running',
    'review running',
    'review running',
    'review passed',
    'notification.created',
    'run_ci_steps ok',
  ])
  const sorted = numbers(items)
  expect(sorted).toEqual([...sorted].sort((a, b) => a - b))
})

test.concurrent('hides other people’s projects and agents, even when they are deleted', async () => {
  await using job = await startJob()
  const { client } = job.running
  const guest = await job.running.clientWith(null).call('auth.register', {
    email: 'guest@copse.test',
    password: 'another horse',
    display_name: 'Guest',
  })
  const theirs = job.running.clientWith(guest.access_token)
  await client.call('agents.create', { name: 'Secret agent', executor: 'command', config: { command: 'secret' } })
  const task = await job.task({ title: 'Secret task' })
  await client.call('tasks.delete', { task_id: task.id })
  await client.call('projects.delete', { project_id: job.project.id })
  const own = await theirs.call('agents.create', {
    name: 'Own agent',
    executor: 'command',
    config: { command: 'mine' },
  })
  const items = await readEvents(
    theirs,
    0,
    (item) => item.kind === 'event' && item.event.type === 'agent.updated' && item.event.data.agent_id === own.id,
  )
  expect(JSON.stringify(items)).not.toContain('Secret')
  expect(items.map((item) => item.kind === 'event' && item.event.type)).toEqual([
    // Their own registration.
    'user.updated',
    'project.updated',
    'agent.updated',
  ])
})
