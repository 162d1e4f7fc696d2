import { expect, test } from 'vitest'
import { noPullRequests, noWriteBack, unknownCan } from '../../../src-shared/contract/pull-requests.ts'
import type { OperationInput } from '../../../src-shared/contract/operations.ts'
import { startIntegrationJob } from '../../helpers/integration-job.ts'
import { addMember, register } from '../../helpers/membership.ts'
import { refused, refusalOf } from '../../helpers/refusal.ts'

type Fields = Partial<OperationInput<'integrations.create'>>

test('returns the settings of an integration, with defaults', async () => {
  await using at = await startIntegrationJob()
  const made = await at.integrate({ poll_interval_secs: undefined })
  expect(made).toEqual({
    id: made.id,
    project_id: at.job.project.id,
    platform: 'hosted',
    base_url: at.tracker.url,
    owner: 'octo',
    repo: 'hello',
    token_secret_ref: at.secret,
    poll_interval_secs: 300,
    sync_filter: {},
    default_task_state: null,
    default_assignee_type: null,
    default_assignee_id: null,
    enabled: true,
    pull_requests: noPullRequests,
    write_back: noWriteBack,
    webhook_secret_ref: null,
    can: unknownCan,
    token_expires_at: null,
    last_polled_at: null,
    last_error: null,
    progress: null,
    syncing: false,
    next_poll_at: made.next_poll_at,
    created_at: made.created_at,
    updated_at: made.updated_at,
  })
  expect(await at.integration()).toEqual(made)
  const changed = await at.job.running.client.call('integrations.update', {
    project_id: at.job.project.id,
    sync_filter: { labels: ['bug'] },
    default_task_state: 'todo',
  })
  const { updated_at } = changed
  expect(changed).toEqual({ ...made, sync_filter: { labels: ['bug'] }, default_task_state: 'todo', updated_at })
})

test.each<[string, Fields, string, string?]>([
  ['another platform', { platform: 'jira' as 'hosted' }, 'validation_failed', 'platform'],
  ['plain http elsewhere', { base_url: 'http://git.example.com' }, 'validation_failed', 'base_url'],
  ['a name in the address', { base_url: 'https://me:pw@git.example.com' }, 'validation_failed', 'base_url'],
  ['a path for a name', { owner: 'octo/hello' }, 'validation_failed', 'owner'],
  ['a way out of the path', { repo: '..' }, 'validation_failed', 'repo'],
  ['a token for its name', { token_secret_ref: 'ghp_123' }, 'validation_failed', 'token_secret_ref'],
  ['Copse’s own variable', { token_secret_ref: 'SVC_DATA_DIR' }, 'secret_ref_forbidden'],
  ['no time between polls', { poll_interval_secs: 0 }, 'validation_failed', 'poll_interval_secs'],
  ['more than a day between polls', { poll_interval_secs: 86_401 }, 'validation_failed', 'poll_interval_secs'],
  ['half an assignee', { default_assignee_type: 'agent' }, 'validation_failed', 'default_assignee_id'],
  [
    'an assignee that is none',
    { default_assignee_type: 'agent', default_assignee_id: '01990000-0000-7000-8000-000000000000' },
    'validation_failed',
    'default_assignee_id',
  ],
  ['a state that is none', { default_task_state: 'someday' }, 'validation_failed', 'default_task_state'],
  [
    'a state to start in that is for the end',
    { default_task_state: 'done' },
    'validation_failed',
    'default_task_state',
  ],
])('refuses %s, at creation and as a change', async (_what, fields, code, path) => {
  await using at = await startIntegrationJob()
  const { client } = at.job.running
  const creation = await refused(at.integrate(fields))
  const made = await at.integrate()
  const change = await refused(client.call('integrations.update', { project_id: at.job.project.id, ...fields }))
  for (const refusal of [creation, change]) {
    expect(refusal.code).toBe(code)
    if (path !== undefined) expect(refusal.details).toMatchObject({ issues: [{ path }] })
  }
  expect(await at.integration()).toEqual(made)
})

test('accepts SVC_SECRET_ variables as token', async () => {
  await using at = await startIntegrationJob()
  expect((await at.integrate({ token_secret_ref: 'SVC_SECRET_X' })).token_secret_ref).toBe('SVC_SECRET_X')
})

test('lets owners change the integration, members sync, and no one else', async () => {
  await using at = await startIntegrationJob()
  const project_id = at.job.project.id
  const { running } = at.job
  await at.integrate()
  const member = await register(running, 'Member')
  const stranger = await register(running, 'Stranger')
  await addMember(running, project_id, member.user_id, 'member')
  expect((await member.client.call('integrations.get', { project_id })).project_id).toBe(project_id)
  expect(await member.client.call('integrations.sync', { project_id }).catch(() => 'asked')).toBe('asked')
  expect(await refusalOf(member.client.call('integrations.update', { project_id, enabled: false }))).toBe(
    'owner_required',
  )
  expect(await refusalOf(member.client.call('integrations.delete', { project_id }))).toBe('owner_required')
  expect(await refusalOf(stranger.client.call('integrations.get', { project_id }))).toBe('not_a_member')
  expect(await refusalOf(stranger.client.call('integrations.sync', { project_id }))).toBe('not_a_member')
  const given = { project_id, default_assignee_type: 'user', default_assignee_id: stranger.user_id } as const
  expect(await refusalOf(running.client.call('integrations.update', given))).toBe('validation_failed')
  const mine = { ...given, default_assignee_id: member.user_id }
  expect((await running.client.call('integrations.update', mine)).default_assignee_id).toBe(member.user_id)
})

test('emits changes and the deletion', async () => {
  await using at = await startIntegrationJob()
  const project_id = at.job.project.id
  const { client } = at.job.running
  const stop = new AbortController()
  const items = client.events({ project_id }, 0, stop.signal)
  await at.integrate()
  await client.call('integrations.update', { project_id, enabled: false })
  await client.call('integrations.delete', { project_id })
  const seen: unknown[] = []
  for await (const item of items) {
    if (item.kind !== 'event' || item.event.type !== 'integration.updated') continue
    seen.push(item.event.data.integration && item.event.data.integration.enabled)
    if (seen.length === 3) break
  }
  stop.abort()
  expect(seen).toEqual([true, false, null])
})

test('follows a renamed state for imported tasks', async () => {
  await using at = await startIntegrationJob()
  const project_id = at.job.project.id
  const { client } = at.job.running
  await at.integrate({ default_task_state: 'todo' })
  const standard = await client.call('projects.get_workflow', { project_id })
  const renamed = JSON.stringify({
    ...standard,
    states: standard.states.map((state) => ({
      ...state,
      ...(state.name === 'todo' && { name: 'ready', renamed_from: 'todo' }),
      ...(state.gate_config?.reject_target === 'todo' && {
        gate_config: { ...state.gate_config, reject_target: 'ready' },
      }),
      transitions: state.transitions.map((one) => ({ ...one, to: one.to === 'todo' ? 'ready' : one.to })),
    })),
  })
  await client.call('projects.update', { project_id, workflow_definition: renamed })
  expect((await at.integration()).default_task_state).toBe('ready')
  at.tracker.repositories.set('octo/hello', [{ number: 1, title: 'One' }])
  await at.sync()
  expect((await at.tasks()).map((task) => task.status)).toEqual(['ready'])
})
