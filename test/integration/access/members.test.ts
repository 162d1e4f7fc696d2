import { expect, test } from 'vitest'
import type { Client } from '../../../src-shared/client/create-client.ts'
import type { FeedItem } from '../../../src-shared/contract/events.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { register } from '../../helpers/membership.ts'
import { refusalOf } from '../../helpers/refusal.ts'
import { runApp, type RunningApp } from '../../helpers/running-app.ts'

interface Team extends AsyncDisposable {
  readonly running: RunningApp
  readonly client: Client
  readonly project_id: string
  readonly owner_id: string
}

async function startTeam(): Promise<Team> {
  const repository = await createTestRepository()
  const running = await runApp()
  const { id: project_id } = await running.client.call('projects.create', { name: 'Team', repo_path: repository.path })
  const { id: owner_id } = await running.client.call('auth.me', {})
  return {
    running,
    client: running.client,
    project_id,
    owner_id,
    [Symbol.asyncDispose]: async () => {
      await running[Symbol.asyncDispose]()
      await repository[Symbol.asyncDispose]()
    },
  }
}

const rolesOf = async ({ client, project_id }: Team) =>
  (await client.call('members.list', { project_id })).items.map(({ handle, role }) => `${handle} ${role}`)

test.concurrent('adds a member by e-mail in any case, and removes one', async () => {
  await using team = await startTeam()
  const { client, project_id } = team
  const guest = await register(team.running, 'Guest')
  expect(await refusalOf(guest.client.call('projects.get', { project_id }))).toBe('not_a_member')
  const member = await client.call('members.add', { project_id, email: 'GUEST@copse.test' })
  expect(member).toEqual({
    project_id,
    user_id: guest.user_id,
    role: 'member',
    email: 'guest@copse.test',
    handle: 'guest',
    display_name: 'Guest',
    added: true,
  })
  expect(await rolesOf(team)).toEqual(['owner owner', 'guest member'])
  const { id: task_id } = await guest.client.call('tasks.create', { project_id, title: 'Mine' })
  expect(await refusalOf(guest.client.call('projects.update', { project_id, name: 'Mine' }))).toBe('owner_required')
  expect(await refusalOf(guest.client.call('members.add', { project_id, user_id: guest.user_id, role: 'owner' }))).toBe(
    'owner_required',
  )
  expect(await client.call('members.remove', { project_id, user_id: guest.user_id })).toBeNull()
  expect(await refusalOf(guest.client.call('tasks.get', { task_id }))).toBe('not_a_member')
  expect((await guest.client.call('projects.list', {})).items).toEqual([])
  expect(await refusalOf(client.call('members.remove', { project_id, user_id: guest.user_id }))).toBe('not_found')
})

test.concurrent('answers 201 for a new member, and 200 for a changed role', async () => {
  await using team = await startTeam()
  const guest = await register(team.running, 'Guest')
  const add = async (body: unknown) => {
    const response = await fetch(`${team.running.url}/api/v1/projects/${team.project_id}/members`, {
      method: 'POST',
      headers: { authorization: `Bearer ${team.running.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const { role, added, error } = (await response.json()) as {
      role?: string
      added?: boolean
      error?: { code: string }
    }
    return [response.status, role ?? error?.code, added]
  }
  expect([
    await add({ user_id: guest.user_id }),
    await add({ email: 'guest@copse.test', role: 'owner' }),
    await add({ user_id: guest.user_id }),
    await add({ user_id: guest.user_id, email: 'guest@copse.test' }),
    await add({}),
    await add({ email: 'nobody@copse.test' }),
    await add({ user_id: team.project_id }),
    await add({ user_id: guest.user_id, role: 'king' }),
  ]).toEqual([
    [201, 'member', true],
    [200, 'owner', false],
    [200, 'member', false],
    [400, 'validation_failed', undefined],
    [400, 'validation_failed', undefined],
    [404, 'not_found', undefined],
    [404, 'not_found', undefined],
    [400, 'validation_failed', undefined],
  ])
})

test.concurrent('keeps the last owner; with another one the project passes on', async () => {
  await using team = await startTeam()
  const { client, project_id, owner_id } = team
  const guest = await register(team.running, 'Guest')
  expect(await refusalOf(client.call('members.remove', { project_id, user_id: owner_id }))).toBe('last_owner')
  expect(await refusalOf(client.call('members.add', { project_id, user_id: owner_id }))).toBe('last_owner')
  await client.call('members.add', { project_id, user_id: guest.user_id, role: 'owner' })
  await client.call('members.add', { project_id, user_id: owner_id, role: 'member' })
  expect((await client.call('projects.get', { project_id })).owner_id).toBe(guest.user_id)
  expect(await rolesOf(team)).toEqual(['owner member', 'guest owner'])
  await guest.client.call('members.remove', { project_id, user_id: owner_id })
  expect(await refusalOf(guest.client.call('members.remove', { project_id, user_id: guest.user_id }))).toBe(
    'last_owner',
  )
})

test.concurrent('leaves one owner when two remove each other at once', async () => {
  await using team = await startTeam()
  const { client, project_id, owner_id } = team
  const guest = await register(team.running, 'Guest')
  await client.call('members.add', { project_id, user_id: guest.user_id, role: 'owner' })
  await Promise.allSettled([
    client.call('members.remove', { project_id, user_id: guest.user_id }),
    guest.client.call('members.remove', { project_id, user_id: owner_id }),
  ])
  expect(await rolesOf(team)).toHaveLength(1)
})

test.concurrent('transfers a project, which only an admin opens to everyone', async () => {
  await using team = await startTeam()
  const { client, project_id, owner_id } = team
  const guest = await register(team.running, 'Guest')
  const other = await register(team.running, 'Other')
  const given = await client.call('projects.update', { project_id, owner_id: guest.user_id })
  expect(given.owner_id).toBe(guest.user_id)
  expect(await rolesOf(team)).toEqual(['owner owner', 'guest owner'])
  expect(await refusalOf(guest.client.call('projects.update', { project_id, owner_id: null }))).toBe('admin_required')
  expect(await refusalOf(client.call('projects.update', { project_id, owner_id: project_id }))).toBe('not_found')
  await client.call('projects.update', { project_id, owner_id: null })
  expect((await other.client.call('projects.get', { project_id })).owner_id).toBeNull()
  expect(await refusalOf(other.client.call('projects.update', { project_id, name: 'Mine' }))).toBe('owner_required')
  await client.call('members.remove', { project_id, user_id: owner_id })
  await client.call('projects.update', { project_id, owner_id })
  expect(await refusalOf(other.client.call('projects.get', { project_id }))).toBe('not_a_member')
})

test.concurrent('promotes and demotes admins at once, and keeps the last one', async () => {
  await using team = await startTeam()
  const { client, owner_id } = team
  const guest = await register(team.running, 'Guest')
  expect(await refusalOf(guest.client.call('admin.update_user', { user_id: guest.user_id, is_admin: true }))).toBe(
    'admin_required',
  )
  expect(await refusalOf(client.call('admin.update_user', { user_id: owner_id, is_admin: false }))).toBe('last_admin')
  const promoted = await client.call('admin.update_user', { user_id: guest.user_id, is_admin: true })
  expect(promoted).toEqual(await guest.client.call('auth.me', {}))
  expect(promoted.is_admin).toBe(true)
  expect((await guest.client.call('admin.list_users', {})).items.map(({ handle }) => handle)).toEqual([
    'owner',
    'guest',
  ])
  // An earlier token says what was true then.
  await guest.client.call('admin.update_user', { user_id: owner_id, is_admin: false })
  expect(await refusalOf(client.call('admin.list_users', {}))).toBe('admin_required')
  expect(await refusalOf(guest.client.call('admin.update_user', { user_id: team.project_id, is_admin: true }))).toBe(
    'not_found',
  )
})

test.concurrent('sends member events to members, even the removed one, and account events to admins', async () => {
  await using team = await startTeam()
  const { client, project_id } = team
  const guest = await register(team.running, 'Guest')
  const stranger = await register(team.running, 'Stranger')
  const stop = new AbortController()
  const listen = async (user_id: string) => {
    const principal = { kind: 'user', user_id, handle: '', is_admin: false, via: 'jwt' } as never
    const heard: string[] = []
    const context = { principal, signal: stop.signal, remote_address: null }
    for await (const item of team.running.app.api.events({}, 0, context) as AsyncIterable<FeedItem>) {
      if (item.kind !== 'event') continue
      const { type } = item.event
      if (type === 'agent.updated') break
      if (type === 'member.updated') heard.push(item.event.data.member === null ? 'removed' : 'added')
      if (type === 'user.updated') heard.push(item.event.data.user.handle)
    }
    return heard
  }
  await client.call('members.add', { project_id, user_id: guest.user_id })
  await client.call('members.remove', { project_id, user_id: guest.user_id })
  await client.call('admin.update_user', { user_id: guest.user_id, is_admin: true })
  await client.call('admin.update_user', { user_id: guest.user_id, is_admin: false })
  // Everyone receives the deletion of an agent, which marks the end here.
  const { id: agent_id } = await client.call('agents.create', { name: 'End', executor: 'external' })
  await client.call('agents.delete', { agent_id })
  expect(await listen(guest.user_id)).toEqual(['guest', 'added', 'removed', 'guest', 'guest'])
  expect(await listen(stranger.user_id)).toEqual(['stranger'])
  stop.abort()
})

test('tells folders of the machine to admins only', async () => {
  await using team = await startTeam()
  const member = await register(team.running, 'Member')
  await team.client.call('members.add', { project_id: team.project_id, user_id: member.user_id, role: 'owner' })
  const { data_dir, home_dir } = await team.client.call('system.get', {})
  expect([data_dir, home_dir]).toEqual([team.running.dataDir, expect.stringMatching(/^\//)])
  const seen = await member.client.call('system.get', {})
  expect(seen).toMatchObject({ version: '0.0.0-test', registered: true, data_dir: null, home_dir: null })
  expect(JSON.stringify(seen)).not.toContain(String(home_dir))
})
