import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Client } from '../../../src-shared/client/create-client.ts'
import type { OperationInput, OperationName } from '../../../src-shared/contract/operations.ts'
import { startJob } from '../../helpers/job.ts'
import { addMember } from '../../helpers/membership.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { createProcessBeacon } from '../../helpers/process-beacon.ts'
import { refusalOf } from '../../helpers/refusal.ts'
import { runApp, type RunningApp } from '../../helpers/running-app.ts'
import { present } from '../../helpers/present.ts'

async function guestOf(running: RunningApp): Promise<Client> {
  const session = await running.clientWith(null).call('auth.register', {
    email: 'guest@copse.test',
    password: 'another horse',
    display_name: 'Guest',
  })
  expect(session.user.is_admin).toBe(false)
  return running.clientWith(session.access_token)
}

/** The codes that a client gets, call by call. */
async function codesOf(client: Client, calls: readonly (readonly [OperationName, unknown])[]): Promise<string[]> {
  return Promise.all(
    calls.map(
      async ([name, input]) => `${name} ${await refusalOf(client.call(name, input as OperationInput<typeof name>))}`,
    ),
  )
}

test.concurrent('hides the first person’s project from a second one, whatever they ask for', async () => {
  await using job = await startJob()
  const guest = await guestOf(job.running)
  const task = await job.task()
  const agent = await job.agent('echo hi')
  const { execution } = await job.running.client.call('tasks.claim', { task_id: task.id })
  const project_id = job.project.id
  const task_id = task.id
  const execution_id = present(execution).id
  const calls: [OperationName, unknown][] = [
    ['projects.get', { project_id }],
    ['projects.get_settings', { project_id }],
    ['projects.get_workflow', { project_id }],
    ['projects.update', { project_id, name: 'Mine' }],
    ['projects.update_settings', { project_id, branch_prefix: 'x/' }],
    ['projects.delete', { project_id }],
    ['tasks.list', { project_id }],
    ['tasks.create', { project_id, title: 'X' }],
    ['tasks.get', { task_id }],
    ['tasks.update', { task_id, title: 'X' }],
    ['tasks.delete', { task_id }],
    ['tasks.claim', { task_id }],
    ['tasks.transition', { task_id, status: 'todo', version: 1 }],
    ['tasks.moves', { task_id }],
    ['tasks.verdict', { task_id, verdict: 'pass' }],
    ['tasks.cancel', { task_id }],
    ['tasks.archive', { task_id }],
    ['tasks.unarchive', { task_id }],
    ['tasks.assign_role', { task_id, role: 'coder', agent_id: agent.id }],
    ['tasks.recover', { task_id, action: 'resume' }],
    ['tasks.transitions', { task_id }],
    ['tasks.reviews', { task_id }],
    ['tasks.executions', { task_id }],
    ['tasks.workspace', { task_id }],
    ['tasks.reset_workspace', { task_id }],
    ['tasks.diff', { task_id }],
    ['tasks.watch_diff', { task_id }],
    ['tasks.mark_viewed', { task_id, files: [{ path: 'x', blob: null, new_mode: null }], viewed: true }],
    ['tasks.logs', { task_id }],
    ['tasks.read_log', { task_id, name: 'ci-1-1.log' }],
    ['executions.get', { execution_id }],
    ['executions.stop', { execution_id }],
    ['executions.input', { execution_id, data: 'x' }],
    ['executions.heartbeat', { execution_id }],
    ['executions.finish', { execution_id, status: 'succeeded' }],
    ['executions.logs', { execution_id }],
    ['executions.read_log', { execution_id, name: 'ci-1-1.log' }],
  ]
  expect(await codesOf(guest, calls)).toEqual(calls.map(([name]) => `${name} not_a_member`))
  expect((await guest.call('projects.list', {})).items).toEqual([])
  expect((await guest.call('agents.list', {})).items).toEqual([])
  expect(await refusalOf(guest.call('agents.get', { agent_id: agent.id }))).toBe('not_found')
  expect(await refusalOf(guest.call('agents.update', { agent_id: agent.id, paused: true }))).toBe('not_found')
  expect(await refusalOf(guest.call('admin.list_users', {}))).toBe('admin_required')
  const anonymous = job.running.clientWith(null)
  expect(await codesOf(anonymous, calls)).toEqual(calls.map(([name]) => `${name} missing_token`))
})

test.concurrent('accepts a run’s token for its project, but for nothing that is people’s', async () => {
  await using beacon = await createProcessBeacon()
  await using job = await startJob()
  const { client } = job.running
  await using other = await createTestRepository()
  const elsewhere = await client.call('projects.create', { name: 'Elsewhere', repo_path: other.path })
  // Outside the worktree, where no file of the run is looked for.
  const place = join(job.repository.beside, 'token')
  const agent = await job.agent(`printf %s "$SVC_API_TOKEN" > '${place}'; ${beacon.hold('agent', 'sleep 1000')}`)
  const task = await job.task()
  const { execution } = await job.claim(task, agent)
  await beacon.alive('agent')
  const bound = job.running.clientWith(await readFile(place, 'utf8'))
  expect((await bound.call('tasks.get', { task_id: task.id })).title).toBe('A task')
  const subtask = await bound.call('tasks.create', { project_id: job.project.id, title: 'Found on the way' })
  expect(subtask.status).toBe('backlog')
  expect((await bound.call('projects.list', {})).items.map((one) => one.id)).toEqual([job.project.id])
  const { command = '' } = agent.config
  await client.call('agents.update', { agent_id: agent.id, config: { command, env: { KEY: 'secret' } } })
  expect((await bound.call('agents.get', { agent_id: agent.id })).config).toEqual({ command, containment: 'auto' })
  const project_id = job.project.id
  const calls: [OperationName, unknown][] = [
    ['projects.create', { name: 'X', repo_path: '/' }],
    ['projects.update', { project_id, paused_at: null }],
    ['projects.update_settings', { project_id, merge_strategy: 'squash' }],
    ['projects.delete', { project_id }],
    ['agents.create', { name: 'X', executor: 'external' }],
    ['agents.update', { agent_id: agent.id, config: { command: 'rm -rf /' } }],
    ['agents.delete', { agent_id: agent.id }],
    ['auth.create_token', { name: 'X' }],
    ['auth.list_tokens', {}],
    ['admin.list_users', {}],
    ['tasks.assign_role', { task_id: task.id, role: 'reviewer', agent_id: agent.id }],
    ['tasks.delete', { task_id: subtask.id }],
    ['tasks.reset_workspace', { task_id: task.id }],
    ['executions.input', { execution_id: execution.id, data: 'x' }],
    ['system.inspect_folder', { path: '/' }],
    ['demo.create', {}],
  ]
  expect(await codesOf(bound, calls)).toEqual(calls.map(([name]) => `${name} humans_only`))
  expect(await refusalOf(bound.call('tasks.list', { project_id: elsewhere.id }))).toBe('not_a_member')
  // It can't judge its own work.
  expect(await refusalOf(bound.call('executions.finish', { execution_id: execution.id, status: 'succeeded' }))).toBe(
    'execution_not_running',
  )
  await client.call('executions.stop', { execution_id: execution.id })
  expect(await refusalOf(bound.call('tasks.get', { task_id: task.id }))).toBe('invalid_token')
})

test.concurrent('shows an agent’s environment only to its holders', async () => {
  await using job = await startJob()
  const guest = await guestOf(job.running)
  const mine = await guest.call('agents.create', {
    name: 'With a secret',
    executor: 'command',
    config: { command: 'echo', env: { KEY: 'secret' } },
  })
  expect(mine.config.env).toEqual({ KEY: 'secret' })
  const admin = await job.running.client.call('agents.get', { agent_id: mine.id })
  expect(admin.config.env).toEqual({ KEY: 'secret' })
  const claim = job.running.client.call('tasks.claim', { task_id: (await job.task()).id, agent_id: mine.id })
  expect(await refusalOf(claim)).toBe('forbidden')
})

test.concurrent('treats an invisible agent as missing in every operation', async () => {
  await using job = await startJob()
  const guest = await guestOf(job.running)
  const theirs = await job.agent('echo', 'Theirs')
  const project = await guest.call('projects.create', { name: 'Guest’s', repo_path: job.repository.path })
  const { id: task_id } = await guest.call('tasks.create', { project_id: project.id, title: 'Mine' })
  const agent_id = theirs.id
  const asked = {
    get: () => guest.call('agents.get', { agent_id }),
    update: () => guest.call('agents.update', { agent_id, name: 'Mine' }),
    test: () => guest.call('agents.test', { agent_id }),
    delete: () => guest.call('agents.delete', { agent_id }),
    claim: () => guest.call('tasks.claim', { task_id, agent_id }),
    role: () => guest.call('tasks.assign_role', { task_id, role: 'coder', agent_id }),
  }
  for (const [name, ask] of Object.entries(asked)) expect(await refusalOf(ask()), name).toBe('not_found')
})

test.concurrent('refuses an invalid body before a missing task', async () => {
  await using running = await runApp()
  const task_id = '01900000-0000-7000-8000-000000000000' as never
  const { client } = running
  expect(await refusalOf(client.call('tasks.assign_role', { task_id, role: 'coder' }))).toBe('validation_failed')
  const user_id = (await client.call('auth.me', {})).id
  expect(await refusalOf(client.call('tasks.assign_role', { task_id, role: 'coder', user_id }))).toBe('not_found')
})

test.concurrent('lets a member use another’s agent, and see all but its environment', async () => {
  await using job = await startJob()
  const guest = await guestOf(job.running)
  const { id: user_id } = await guest.call('auth.me', {})
  await addMember(job.running, job.project.id, user_id, 'member')
  const agent = await job.running.client.call('agents.create', {
    name: 'Shared',
    executor: 'command',
    config: { command: 'test -n "$KEY" && echo work > work.txt; echo done', env: { KEY: 'secret' } },
  })
  const { env: _, ...shown } = agent.config
  expect(await guest.call('agents.get', { agent_id: agent.id })).toEqual({ ...agent, config: shown })
  const task = await guest.call('tasks.create', { project_id: job.project.id, title: 'By a member' })
  const claimed = await guest.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  expect(present(claimed.execution).agent_id).toBe(agent.id)
  await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  await guest.call('comments.create', { task_id: task.id, body: 'Shorter, please.' })
  const judged = await guest.call('tasks.verdict', { task_id: task.id, verdict: 'fail', feedback: 'Too long.' })
  expect(judged.task.status).toBe('in_progress')
  await guest.call('tasks.cancel', { task_id: task.id })
})

test.concurrent('checks the body first, then existence, then rights, then the version', async () => {
  await using job = await startJob()
  const guest = await guestOf(job.running)
  const task = await job.task()
  const move = (by: Client, more: object) =>
    refusalOf(by.call('tasks.transition', { task_id: task.id, status: 'nowhere', version: 99, ...more }))
  const unknown = { task_id: job.project.id }
  expect([
    await move(job.running.clientWith('svc_wrong'), { ...unknown, version: 'x' }),
    await move(guest, { ...unknown, version: 'x' }),
    await move(guest, unknown),
    await move(guest, {}),
    await move(job.running.client, {}),
    await move(job.running.client, { version: task.version }),
  ]).toEqual([
    'invalid_token',
    'validation_failed',
    'not_found',
    'not_a_member',
    'version_conflict',
    'invalid_transition',
  ])
})

test.concurrent('gives a role to members only', async () => {
  await using job = await startJob()
  const guest = await guestOf(job.running)
  const { id: user_id } = await guest.call('auth.me', {})
  const task = await job.task()
  const give = job.running.client.call('tasks.assign_role', { task_id: task.id, role: 'reviewer', user_id })
  expect(await refusalOf(give)).toBe('not_a_member')
})

test.concurrent('makes what existed before the first person theirs alone', async () => {
  await using repository = await createTestRepository()
  await using running = await runApp({ unregistered: true })
  const operator = running.app.identity.localPrincipal()
  expect(operator).toEqual({ kind: 'operator' })
  const call = async <N extends OperationName>(name: N, input: OperationInput<N>) =>
    (await running.app.api.call(name, input, {
      principal: operator,
      signal: AbortSignal.timeout(10_000),
      remote_address: null,
    })) as { id: string; owner_id: string | null }
  const project = await call('projects.create', { name: 'Before', repo_path: repository.path })
  const agent = await call('agents.create', { name: 'Before', executor: 'command', config: { command: 'echo' } })
  expect([project.owner_id, agent.owner_id]).toEqual([null, null])
  const first = await running.clientWith(null).call('auth.register', {
    email: 'first@copse.test',
    password: 'correct horse',
    display_name: 'First',
  })
  expect(first.user).toMatchObject({ is_admin: true, handle: 'first' })
  const client = running.clientWith(first.access_token)
  expect((await client.call('projects.get', { project_id: project.id })).owner_id).toBe(first.user.id)
  expect((await client.call('agents.get', { agent_id: agent.id })).owner_id).toBe(first.user.id)
  const task = await client.call('tasks.create', { project_id: project.id, title: 'Mine now' })
  expect((await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })).task.status).toBe('in_progress')
  const guest = await guestOf(running)
  expect(await refusalOf(guest.call('projects.get', { project_id: project.id }))).toBe('not_a_member')
  expect(running.app.identity.localPrincipal()).toMatchObject({ kind: 'user', user_id: first.user.id, via: 'local' })
})
