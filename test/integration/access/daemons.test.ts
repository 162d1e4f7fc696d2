import { expect, test } from 'vitest'
import type { OperationInput } from '../../../src-shared/contract/operations.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { register } from '../../helpers/membership.ts'
import { refusalOf } from '../../helpers/refusal.ts'
import { present } from '../../helpers/present.ts'

type Report = Omit<OperationInput<'daemons.report'>, 'daemon_id'>

async function startDaemon(job: Job) {
  const { daemon, token } = await job.running.client.call('daemons.create', { name: 'builder' })
  const client = job.running.clientWith(token)
  const report = (more: Report = {}) => client.call('daemons.report', { daemon_id: daemon.id, ...more })
  const agents = async () =>
    (await job.running.client.call('agents.list', {})).items.filter(({ daemon_id }) => daemon_id === daemon.id)
  return { daemon, token, client, report, agents }
}

test.concurrent('shows a daemon its token once, accepts its reports, and lists it', async () => {
  await using job = await startJob()
  const { daemon, token, report } = await startDaemon(job)
  expect(token).toMatch(/^svcd_[\w-]{43}$/)
  expect(daemon).toMatchObject({ name: 'builder', hostname: null, version: null, last_seen_at: null })
  const answer = await report({ hostname: 'build-1', version: '2.0.0' })
  expect(answer).toEqual({
    daemon: { ...daemon, hostname: 'build-1', version: '2.0.0', last_seen_at: expect.any(String) as string },
    executions: [],
    jobs: [],
    ended: [],
  })
  expect((await report()).daemon).toMatchObject({ hostname: 'build-1', version: '2.0.0' })
  const { items } = await job.running.client.call('daemons.list', {})
  expect(items.map(({ id, hostname }) => [id, hostname])).toEqual([[daemon.id, 'build-1']])
  expect(JSON.stringify(items)).not.toContain(token)
})

test.concurrent('announces a daemon at its first report and then once a minute', async () => {
  const time = { now: Date.parse('2026-11-21T09:30:00.000Z') }
  await using job = await startJob({ clock: { now: () => time.now } })
  const { report, daemon } = await startDaemon(job)
  for (const after of [1, 30, 31, 90]) {
    time.now = Date.parse('2026-11-21T09:30:00.000Z') + after * 1_000
    await report()
  }
  await job.agent('echo', 'End')
  const told: (string | null | undefined)[] = []
  const stop = new AbortController()
  for await (const item of job.running.client.events({}, 0, stop.signal)) {
    if (item.kind !== 'event') continue
    if (item.event.type === 'daemon.updated') told.push(item.event.data.daemon?.last_seen_at)
    if (item.event.type === 'agent.updated') break
  }
  stop.abort()
  expect(told).toEqual([null, '2026-11-21T09:30:01.000Z', '2026-11-21T09:31:30.000Z'])
  expect((await report()).daemon.id).toBe(daemon.id)
})

test.concurrent('creates and updates its agents by name, and keeps what it does not send', async () => {
  await using job = await startJob()
  const { report, agents, daemon } = await startDaemon(job)
  await report({ agents: [{ name: 'One', executor: 'claude-code', config: { model: 'a' } }] })
  const [first] = await agents()
  expect(first).toMatchObject({ name: 'One', owner_id: daemon.owner_id, config: { model: 'a' }, paused: false })
  await job.running.client.call('agents.update', { agent_id: first?.id ?? '', paused: true })
  const again: Report = {
    agents: [
      { name: 'One', executor: 'external' },
      { name: 'Two', executor: 'command', config: {} },
    ],
  }
  await report(again)
  await report(again)
  expect(
    (await agents()).map(({ id, name, executor, paused, config }) => ({ id, name, executor, paused, config })),
  ).toEqual([
    { id: first?.id, name: 'One', executor: 'external', paused: true, config: { model: 'a' } },
    { id: expect.any(String) as string, name: 'Two', executor: 'command', paused: false, config: {} },
  ])
})

test.concurrent('runs its agents on its machine, kept alive by its reports and stopped from here', async () => {
  const time = { now: Date.now() }
  await using job = await startJob({ clock: { now: () => time.now } })
  const { client } = job.running
  const { report, agents } = await startDaemon(job)
  await report({ agents: [{ name: 'One', executor: 'command', config: { command: 'exit 1' } }] })
  const [agent] = await agents()
  const task = await job.task()
  const { execution } = await client.call('tasks.claim', { task_id: task.id, agent_id: agent?.id ?? '' })
  const running = await job.running.eventually(
    () => client.call('executions.get', { execution_id: present(execution).id }),
    ({ status }) => status === 'running',
  )
  expect(running.executor).toBe('external')
  time.now += 60_000
  const other = await job.agent('echo')
  expect((await report({ executions: [{ id: present(execution).id }, { id: other.id }] })).executions).toEqual([
    { id: present(execution).id, action: 'continue' },
    { id: other.id, action: 'stop' },
  ])
  const beaten = await client.call('executions.get', { execution_id: present(execution).id })
  expect(Date.parse(beaten.last_heartbeat_at ?? '')).toBe(time.now)
  await client.call('executions.stop', { execution_id: present(execution).id })
  expect((await report({ executions: [{ id: present(execution).id }] })).executions).toEqual([
    { id: present(execution).id, action: 'stop', reason: 'stopped' },
  ])
})

test.concurrent('accepts its token only for its own reports', async () => {
  await using job = await startJob()
  const { client, url } = job.running
  const mine = await startDaemon(job)
  const other = await startDaemon(job)
  const pat = await client.call('auth.create_token', { name: 'ci' })
  const daemon_id = mine.daemon.id
  const reportAs = (token: string | null) =>
    refusalOf(job.running.clientWith(token).call('daemons.report', { daemon_id }))
  expect([
    await reportAs(other.token),
    await reportAs(job.running.token),
    await reportAs(pat.token),
    await refusalOf(client.call('daemons.report', { daemon_id: 'self' })),
    await reportAs(null),
    await reportAs(`svcd_${'x'.repeat(43)}`),
    await refusalOf(mine.client.call('daemons.report', { daemon_id: job.project.id })),
    await refusalOf(client.call('daemons.report', { daemon_id: job.project.id })),
  ]).toEqual([
    'forbidden',
    'daemon_token_required',
    'daemon_token_required',
    'daemon_token_required',
    'missing_token',
    'invalid_token',
    'not_found',
    'not_found',
  ])
  // Refused before the body and existence are checked, because the token counts nowhere else.
  const elsewhere = [
    'projects',
    'auth/me',
    'daemons',
    'events',
    'mcp',
    'nowhere',
    `tasks/${daemon_id}`,
    'tasks/rubbish',
  ]
  for (const path of elsewhere) {
    const response = await fetch(`${url}/api/v1/${path}`, { headers: { authorization: `Bearer ${mine.token}` } })
    const { error } = (await response.json()) as { error: { code: string } }
    expect([path, response.status, error.code]).toEqual([path, 401, 'invalid_token'])
    expect(response.headers.get('www-authenticate')).toBe('Bearer')
  }
})

test.concurrent('drops a revoked daemon at once, and pauses its agents', async () => {
  await using job = await startJob()
  const { client } = job.running
  const { daemon, report, agents } = await startDaemon(job)
  await report({ agents: [{ name: 'One', executor: 'external' }] })
  const guest = await register(job.running, 'Guest')
  expect((await guest.client.call('daemons.list', {})).items).toEqual([])
  expect(await refusalOf(guest.client.call('daemons.delete', { daemon_id: daemon.id }))).toBe('forbidden')
  await client.call('daemons.delete', { daemon_id: daemon.id })
  expect(await refusalOf(report())).toBe('invalid_token')
  expect((await agents()).map(({ paused }) => paused)).toEqual([true])
  expect((await client.call('daemons.list', {})).items).toEqual([])
  expect(await refusalOf(client.call('daemons.delete', { daemon_id: daemon.id }))).toBe('not_found')
})
