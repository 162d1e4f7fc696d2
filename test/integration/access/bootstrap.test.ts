import { expect, test } from 'vitest'
import type { FeedItem } from '../../../src-shared/contract/events.ts'
import type { OperationInput, OperationName, OperationOutput } from '../../../src-shared/contract/operations.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { runApp } from '../../helpers/running-app.ts'

const people = Array.from({ length: 20 }, (_, index) => ({
  email: `person${index}@copse.test`,
  password: 'correct horse',
  display_name: `Person ${index}`,
}))

test('lets exactly one of 20 simultaneous first accounts inherit projects, agents and daemons', async () => {
  await using repository = await createTestRepository()
  await using running = await runApp({ unregistered: true })
  const { api, identity } = running.app
  const stop = new AbortController()
  const context = { principal: identity.localPrincipal(), signal: stop.signal, remote_address: null }
  const call = async <N extends OperationName>(name: N, input: OperationInput<N>) =>
    (await api.call(name, input, context)) as OperationOutput<N>
  for (const name of ['One', 'Two']) {
    await call('projects.create', { name, repo_path: repository.path })
    await call('agents.create', { name, executor: 'external', config: { env: { KEY: 'secret' } } })
    await call('daemons.create', { name })
  }
  const anonymous = running.clientWith(null)
  const sessions = await Promise.all(people.map((person) => anonymous.call('auth.register', person)))
  const admins = sessions.filter(({ user }) => user.is_admin)
  expect(admins).toHaveLength(1)
  const [{ user, access_token }] = admins as [(typeof admins)[0]]
  const client = running.clientWith(access_token)
  const projects = (await client.call('projects.list', {})).items
  const owners = async () => [
    ...projects.map(({ owner_id }) => owner_id),
    ...(await client.call('agents.list', {})).items.map(({ owner_id }) => owner_id),
    ...(await client.call('daemons.list', {})).items.map(({ owner_id }) => owner_id),
  ]
  expect(await owners()).toEqual(Array<string>(6).fill(user.id))
  for (const { id: project_id } of projects) {
    const { items } = await client.call('members.list', { project_id })
    expect(items.map(({ user_id, role }) => [user_id, role])).toEqual([[user.id, 'owner']])
  }
  expect((await client.call('admin.list_users', {})).items).toHaveLength(20)
  expect(new Set(sessions.map((one) => one.user.handle)).size).toBe(20)
  await running.app.api.call('agents.create', { name: 'End', executor: 'external' }, context)
  const heard = await heardBy(api.events({}, 0, context))
  expect(heard.filter(([, owner]) => owner === user.id).map(([type]) => type)).toEqual([
    'project.updated',
    'project.updated',
    'agent.updated',
    'agent.updated',
    'daemon.updated',
    'daemon.updated',
  ])
  stop.abort()
})

/** Events about owned records, up to the agent that is created last. */
async function heardBy(items: AsyncIterable<FeedItem>): Promise<[string, string | null | undefined][]> {
  const heard: [string, string | null | undefined][] = []
  for await (const item of items) {
    if (item.kind !== 'event') continue
    const { type, data } = item.event
    expect(JSON.stringify(data)).not.toContain('secret')
    if (type === 'agent.updated' && data.agent?.name === 'End') break
    if (type === 'project.updated') heard.push([type, data.project?.owner_id])
    if (type === 'agent.updated') heard.push([type, data.agent?.owner_id])
    if (type === 'daemon.updated') heard.push([type, data.daemon?.owner_id])
  }
  return heard
}
