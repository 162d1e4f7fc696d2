import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Client } from '../../../src-shared/client/create-client.ts'
import type { FeedItem } from '../../../src-shared/contract/events.ts'
import type { OperationInput, OperationName } from '../../../src-shared/contract/operations.ts'
import { Comment } from '../../../src-shared/contract/comments.ts'
import { Project } from '../../../src-shared/contract/projects.ts'
import { Task } from '../../../src-shared/contract/tasks.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { startJob } from '../../helpers/job.ts'
import { addMember, register } from '../../helpers/membership.ts'
import { createProcessBeacon } from '../../helpers/process-beacon.ts'
import { refusalOf, refused } from '../../helpers/refusal.ts'
import { runApp } from '../../helpers/running-app.ts'

const unknown = '01990000-0000-7000-8000-00000000ffff'
const bodies = async (client: Client, task_id: string) =>
  (await client.call('comments.list', { task_id })).items.map((one) => one.body)

/** The comment events up to the first that `isLast` accepts. */
async function commentNews(client: Client, isLast: (item: FeedItem) => boolean): Promise<string[]> {
  const news: string[] = []
  for await (const item of client.events({}, 0, AbortSignal.timeout(30_000))) {
    if (item.kind === 'event' && item.event.type.startsWith('comment.')) {
      const { data, type } = item.event
      news.push(`${type} ${'comment' in data ? data.comment.body : ''}`.trim())
    }
    if (isLast(item)) return news
  }
  throw new Error(`The events ended early: ${JSON.stringify(news)}`)
}

test.concurrent('lets people comment in threads, on the task and on lines of its diff', async () => {
  await using job = await startJob()
  const { client } = job.running
  const me = await client.call('auth.me', {})
  const task = await job.task()
  const anchor = { path: 'src/add.ts', side: 'new' as const, line: 7 }
  const first = await client.call('comments.create', { task_id: task.id, body: '  Wrong sign.  ', anchor })
  expect(first).toEqual({
    id: first.id,
    task_id: task.id,
    parent_id: null,
    author: { type: 'user', id: me.id, name: 'Owner' },
    body: 'Wrong sign.',
    anchor,
    state: 'draft',
    sent: null,
    answer: null,
    original: null,
    applied: null,
    resolved_at: null,
    created_at: first.created_at,
    updated_at: first.created_at,
  })
  const answer = await client.call('comments.create', { task_id: task.id, body: 'True.', parent_id: first.id })
  const deeper = await client.call('comments.create', { task_id: task.id, body: 'Fixed.', parent_id: answer.id })
  expect((await client.call('comments.list', { task_id: task.id })).items).toEqual([first, answer, deeper])
})

test.concurrent('keeps an answer within its task, and limits the body', async () => {
  await using job = await startJob()
  const { client } = job.running
  const [task, other] = [await job.task(), await job.task()]
  const far = await client.call('comments.create', { task_id: other.id, body: 'Far' })
  const create = (more: Partial<OperationInput<'comments.create'>>) =>
    refused(client.call('comments.create', { task_id: task.id, body: 'Hm', ...more }))
  const astray = await create({ parent_id: far.id })
  expect([astray.code, astray.details]).toMatchObject(['validation_failed', { issues: [{ path: 'parent_id' }] }])
  const missing = await create({ parent_id: unknown })
  expect([missing.code, missing.details]).toEqual(['not_found', { resource: 'comment' }])
  expect((await create({ body: '   ' })).code).toBe('validation_failed')
  expect((await create({ body: 'x'.repeat(100_001) })).code).toBe('validation_failed')
  expect((await create({ anchor: { path: 'a', side: 'new', line: 0 } })).code).toBe('validation_failed')
  expect(await bodies(client, task.id)).toEqual([])
  expect((await refused(client.call('comments.delete', { comment_id: unknown }))).details).toEqual({
    resource: 'comment',
  })
})

test.concurrent('lets only the author edit, the author and owners delete, and every member resolve', async () => {
  await using job = await startJob()
  const { client } = job.running
  const author = await register(job.running, 'Ada')
  const member = await register(job.running, 'Grace')
  const owner = await register(job.running, 'Linus')
  const stranger = await register(job.running, 'Mallory')
  await addMember(job.running, job.project.id, author.user_id, 'member')
  await addMember(job.running, job.project.id, member.user_id, 'member')
  await addMember(job.running, job.project.id, owner.user_id, 'owner')
  const task = await job.task()
  const write = (body: string) => author.client.call('comments.create', { task_id: task.id, body })
  const [first, second, third] = [await write('One'), await write('Two'), await write('Three')]
  const edit = (by: Client, body: string) => by.call('comments.update', { comment_id: first.id, body })
  for (const by of [member.client, owner.client, client]) expect(await refusalOf(edit(by, 'Mine'))).toBe('forbidden')
  expect(await edit(author.client, 'One, better')).toMatchObject({ body: 'One, better', resolved_at: null })
  const resolved = await member.client.call('comments.update', { comment_id: first.id, resolved: true })
  expect(resolved).toMatchObject({ body: 'One, better' })
  expect(resolved.resolved_at).not.toBeNull()
  // Repeating it changes nothing.
  expect(await owner.client.call('comments.update', { comment_id: first.id, resolved: true })).toEqual(resolved)
  const remove = (by: Client, comment: { id: string }) => by.call('comments.delete', { comment_id: comment.id })
  expect(await refusalOf(remove(member.client, first))).toBe('forbidden')
  const intrusions = [
    stranger.client.call('comments.list', { task_id: task.id }),
    stranger.client.call('comments.create', { task_id: task.id, body: 'Hi' }),
    stranger.client.call('comments.update', { comment_id: first.id, resolved: false }),
    remove(stranger.client, first),
  ]
  expect(new Set(await Promise.all(intrusions.map(refusalOf)))).toEqual(new Set(['not_a_member']))
  await remove(author.client, first)
  await remove(owner.client, second)
  await remove(client, third)
  expect(await bodies(client, task.id)).toEqual([])
})

test.concurrent('resolves and deletes a thread whole, with an event for each part', async () => {
  await using job = await startJob()
  const { client } = job.running
  const task = await job.task()
  const write = (body: string, parent_id?: string) =>
    client.call('comments.create', { task_id: task.id, body, ...(parent_id !== undefined && { parent_id }) })
  const root = await write('Root')
  const answer = await write('Answer', root.id)
  const other = await write('Other')
  await write('Deeper', answer.id)
  await client.call('comments.update', { comment_id: root.id, resolved: true })
  const after = (await client.call('comments.list', { task_id: task.id })).items
  expect(after.map((one) => [one.body, one.resolved_at !== null])).toEqual([
    ['Root', true],
    ['Answer', true],
    ['Other', false],
    ['Deeper', true],
  ])
  await client.call('comments.update', { comment_id: answer.id, resolved: false })
  await client.call('comments.delete', { comment_id: root.id })
  expect(await bodies(client, task.id)).toEqual(['Other'])
  await client.call('comments.delete', { comment_id: other.id })
  await client.call('tasks.delete', { task_id: task.id })
  const news = await commentNews(client, (item) => item.kind === 'event' && item.event.type === 'task.deleted')
  expect(news).toEqual([
    'comment.created Root',
    'comment.created Answer',
    'comment.created Other',
    'comment.created Deeper',
    'comment.updated Root',
    'comment.updated Answer',
    'comment.updated Deeper',
    'comment.updated Answer',
    'comment.deleted',
    'comment.deleted',
    'comment.deleted',
    'comment.deleted',
  ])
})

test.concurrent('redacts a secret in a comment before it is stored, also in an edit', async () => {
  await using job = await startJob()
  const { client } = job.running
  await job.settings({ redaction_patterns: ['shibboleth-[0-9]+'] })
  const task = await job.task()
  const comment = await client.call('comments.create', { task_id: task.id, body: 'Use shibboleth-42 here' })
  expect(comment.body).toBe('Use [redacted] here')
  const edited = await client.call('comments.update', { comment_id: comment.id, body: 'Or shibboleth-43' })
  expect(edited.body).toBe('Or [redacted]')
  expect(await bodies(client, task.id)).toEqual(['Or [redacted]'])
})

test.concurrent('lets an agent comment in its project under its own name', async () => {
  await using beacon = await createProcessBeacon()
  await using job = await startJob()
  const { client } = job.running
  const place = join(job.repository.beside, 'token')
  const hold = beacon.hold('agent', 'sleep 1000')
  const agent = await job.agent(`printf %s "$SVC_API_TOKEN" > '${place}'; ${hold}`, 'Scribe')
  const [task, other] = [await job.task(), await job.task()]
  const { execution } = await job.claim(task, agent)
  await beacon.alive('agent')
  const bound = job.running.clientWith(await readFile(place, 'utf8'))
  const subtask = await bound.call('tasks.create', { project_id: job.project.id, title: 'Part', parent_id: task.id })
  for (const { id } of [task, subtask, other]) {
    const said = await bound.call('comments.create', { task_id: id, body: 'Found something' })
    expect(said.author).toEqual({ type: 'agent', id: agent.id, name: 'Scribe' })
    expect((await bound.call('comments.update', { comment_id: said.id, body: 'Found more' })).body).toBe('Found more')
  }
  const mine = await client.call('comments.create', { task_id: task.id, body: 'Mine' })
  expect(await refusalOf(bound.call('comments.update', { comment_id: mine.id, body: 'Yours' }))).toBe('forbidden')
  expect(await refusalOf(bound.call('comments.delete', { comment_id: mine.id }))).toBe('forbidden')
  expect(await refusalOf(bound.call('tasks.feedback', { task_id: task.id, message: 'Hurry' }))).toBe('humans_only')
  await client.call('executions.stop', { execution_id: execution.id })
})

test.concurrent('lets the local operator comment before anyone registers, and keep it', async () => {
  await using repository = await createTestRepository()
  await using running = await runApp({ unregistered: true })
  const call = <N extends OperationName>(name: N, input: OperationInput<N>) =>
    running.app.api.call(name, input, {
      principal: running.app.identity.localPrincipal(),
      signal: AbortSignal.timeout(10_000),
      remote_address: null,
    })
  const project = Project.parse(await call('projects.create', { name: 'Before', repo_path: repository.path }))
  const task = Task.parse(await call('tasks.create', { project_id: project.id, title: 'A task' }))
  const comment = Comment.parse(await call('comments.create', { task_id: task.id, body: 'Mine' }))
  expect(comment.author).toEqual({ type: 'operator', id: null, name: 'Local operator' })
  expect(await call('comments.update', { comment_id: comment.id, body: 'Edited' })).toMatchObject({ body: 'Edited' })
  expect(await call('notifications.list', {})).toMatchObject({ items: [] })
  const first = await register(running, 'Ada')
  // In the window the first person still acts as the operator; elsewhere they are an owner, not the author.
  expect(await call('comments.update', { comment_id: comment.id, body: 'Again' })).toMatchObject({ body: 'Again' })
  const elsewhere = first.client.call('comments.update', { comment_id: comment.id, body: 'Not mine' })
  expect(await refusalOf(elsewhere)).toBe('forbidden')
  await first.client.call('comments.delete', { comment_id: comment.id })
  expect(await bodies(first.client, task.id)).toEqual([])
})
