import { expect, test } from 'vitest'
import type { Client } from '../../../src-shared/client/create-client.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { addMember, register } from '../../helpers/membership.ts'
import { refusalOf } from '../../helpers/refusal.ts'
import { runApp } from '../../helpers/running-app.ts'

// Tokens and rights are cached in memory between writes. Each of these changes is such a write, and the very
// next request has to see it. Every token is used right before, so that it is cached.

async function start() {
  await using opened = new AsyncDisposableStack()
  const repository = opened.use(await createTestRepository())
  const running = opened.use(await runApp())
  const { client } = running
  const { id: project_id } = await client.call('projects.create', { name: 'Team', repo_path: repository.path })
  const { id: task_id } = await client.call('tasks.create', { project_id, title: 'Work' })
  const guest = await register(running, 'Guest')
  const owned = opened.move()
  return { running, client, project_id, task_id, guest, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

const passes = async (client: Client, task_id: string): Promise<boolean> =>
  (await client.call('tasks.get', { task_id })).id === task_id

test('refuses a revoked token at the next request', async () => {
  await using world = await start()
  const { token, id: token_id } = await world.client.call('auth.create_token', { name: 'script' })
  const script = world.running.clientWith(token)
  for (let i = 0; i < 3; i++) expect(await passes(script, world.task_id)).toBe(true)
  await world.client.call('auth.delete_token', { token_id })
  expect(await refusalOf(script.call('tasks.get', { task_id: world.task_id }))).toBe('invalid_token')
})

test('hides everything from a removed member at the next request, with either token', async () => {
  await using world = await start()
  const { project_id, task_id, guest, client, running } = world
  const script = running.clientWith((await guest.client.call('auth.create_token', { name: 'script' })).token)
  expect(await refusalOf(script.call('tasks.get', { task_id }))).toBe('not_a_member')
  await addMember(running, project_id, guest.user_id, 'member')
  for (const one of [guest.client, script, guest.client]) expect(await passes(one, task_id)).toBe(true)
  await client.call('members.remove', { project_id, user_id: guest.user_id })
  for (const one of [guest.client, script]) {
    expect(await refusalOf(one.call('tasks.get', { task_id }))).toBe('not_a_member')
  }
})

test('refuses owner actions to a former owner', async () => {
  await using world = await start()
  const { project_id, guest, client, running } = world
  await addMember(running, project_id, guest.user_id, 'owner')
  expect((await guest.client.call('projects.update', { project_id, name: 'Theirs' })).name).toBe('Theirs')
  await client.call('members.add', { project_id, user_id: guest.user_id, role: 'member' })
  expect(await refusalOf(guest.client.call('projects.update', { project_id, name: 'Again' }))).toBe('owner_required')
})

test('refuses admin actions to a former admin whose token still says so', async () => {
  await using world = await start()
  const { guest, client, task_id } = world
  await client.call('admin.update_user', { user_id: guest.user_id, is_admin: true })
  expect(await passes(guest.client, task_id)).toBe(true)
  expect((await guest.client.call('admin.list_users', {})).items).toHaveLength(2)
  await client.call('admin.update_user', { user_id: guest.user_id, is_admin: false })
  expect(await refusalOf(guest.client.call('tasks.get', { task_id }))).toBe('not_a_member')
  expect(await refusalOf(guest.client.call('admin.list_users', {}))).toBe('admin_required')
})
