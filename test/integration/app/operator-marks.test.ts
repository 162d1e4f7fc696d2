import { expect, test } from 'vitest'
import type { Client } from '../../../src-shared/client/create-client.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { eventually } from '../../helpers/eventually.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { addMember, register } from '../../helpers/membership.ts'
import { runApp, type RunningApp } from '../../helpers/running-app.ts'

/** The local operator's page, signed in with a code of the start. */
function atThisMachine({ app, clientWith }: RunningApp): Client {
  return clientWith(app.identity.localSignIn(app.identity.createLocalCode()).access_token)
}

/** A project with a notification per title: a task each, whose review passes. */
async function workedProject(client: Client, repo_path: string, titles: readonly string[]) {
  const tasks: Task[] = []
  const project = await client.call('projects.create', { name: 'Before', repo_path })
  const config = { command: 'echo work > work.txt; echo done' }
  const agent = await client.call('agents.create', { name: 'Scripted', executor: 'command', config })
  for (const title of titles) {
    const task = await client.call('tasks.create', { project_id: project.id, title })
    await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
    const read = () => client.call('tasks.get', { task_id: task.id })
    tasks.push(await eventually(client, read, (one) => one.review_passed_at !== null && !one.entry_barrier))
  }
  return { project, tasks }
}

const marks = async (client: Client) =>
  (await client.call('notifications.list', {})).items.map((one) => `${one.read ? 'read' : 'new'}: ${one.title}`)
const unread = async (client: Client) => (await client.call('notifications.unread_count', {})).count

test.concurrent('keeps the local operator’s read notifications for the first person who registers', async () => {
  await using repository = await createTestRepository()
  await using running = await runApp({ unregistered: true })
  const operator = atThisMachine(running)
  const { project } = await workedProject(operator, repository.path, ['One', 'Two'])
  const [, one] = (await operator.call('notifications.list', {})).items
  await operator.call('notifications.mark_read', { notification_id: one?.id ?? '' })
  const expected = ['new: “Two” is ready for your review', 'read: “One” is ready for your review']
  expect(await marks(operator)).toEqual(expected)
  const first = await register(running, 'Ada')
  expect(await marks(first.client)).toEqual(expected)
  expect(await unread(first.client)).toBe(1)
  // The same page continues as that person: they share one set of marks.
  expect(await marks(operator)).toEqual(expected)
  await operator.call('notifications.mark_all_read', {})
  expect(await unread(first.client)).toBe(0)
  await workedProject(first.client, repository.path, ['Three'])
  expect([await unread(first.client), await unread(operator)]).toEqual([1, 1])
  // A later person has read nothing.
  const second = await register(running, 'Grace')
  await addMember(first, project.id, second.user_id, 'member')
  expect(await unread(second.client)).toBe(2)
})

test.concurrent('keeps the local operator’s viewed files for the first person who registers', async () => {
  await using repository = await createTestRepository()
  await using running = await runApp({ unregistered: true })
  const operator = atThisMachine(running)
  const { tasks } = await workedProject(operator, repository.path, ['One'])
  const task_id = tasks[0]?.id ?? ''
  const filesOf = async (client: Client) => (await client.call('tasks.diff', { task_id })).files
  const named = (await filesOf(operator)).map(({ path, blob, new_mode }) => ({ path, blob, new_mode }))
  await operator.call('tasks.mark_viewed', { task_id, files: named, viewed: true })
  const first = await register(running, 'Ada')
  expect((await filesOf(first.client)).map(({ path, viewed }) => [path, viewed])).toEqual([['work.txt', true]])
})
