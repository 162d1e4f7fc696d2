import { once } from 'node:events'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { jobProtocol } from '../../../src-shared/contract/jobs.ts'
import type { JobId } from '../../../src-shared/contract/ids.ts'
import { startDaemonJob } from '../../helpers/daemon-job.ts'
import { addMember, register } from '../../helpers/membership.ts'
import { processesIn } from '../../helpers/processes-in.ts'
import { refusalOf } from '../../helpers/refusal.ts'
import { endOf, startSvc } from '../cli/svc-process.ts'

test('takes a task from a claim to the base branch on a machine that connects from its side', async () => {
  await using far = await startDaemonJob()
  const { job, home, runner_id } = far
  const { client } = job.running
  expect((await client.call('runners.list', {})).items.map(({ id }) => id)).toEqual(['here'])
  const child = far.start('--capacity', '3')
  await far.isReady()
  expect(await client.call('runners.get', { runner_id })).toMatchObject({
    name: 'Desk',
    kind: 'daemon',
    config: { shared: false },
    capacity: 3,
  })
  await job.settings({ runner_ids: [runner_id] })
  const agent = await job.agent('pwd > where.txt; git add -A; git commit -qm Work')
  const task = await job.task({ review_config: { ci_steps: ['pwd'] } })
  await job.claim(task, agent)
  const reviewed = await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  const { items: reviews } = await client.call('tasks.reviews', { task_id: task.id })
  expect(reviews[0]?.step_results[0]?.output_tail).toContain(home)
  const { version } = reviewed
  const { task: merged } = await client.call('tasks.transition', { task_id: task.id, status: 'merging', version })
  expect(merged.status).toBe('done')
  expect(await job.repository.git(['show', 'main:where.txt'])).toContain(home)

  const ended = once(child, 'exit')
  child.kill('SIGINT')
  expect(await ended).toEqual([0, null])
  expect(processesIn([home])).toEqual([])
})

test('is its owner’s alone until an admin shares it', async () => {
  await using far = await startDaemonJob()
  const { job, runner_id } = far
  const { client } = job.running
  const guest = await register(job.running, 'Guest')
  await addMember(job.running, job.project.id, guest.user_id, 'member')
  const theirs = await guest.client.call('agents.create', {
    name: 'Theirs',
    executor: 'command',
    config: { command: 'echo x > x.txt; git add -A; git commit -qm Work' },
  })
  far.start()
  await far.isReady()
  const task = await job.task()
  const claim = () =>
    client.call('tasks.claim', { task_id: task.id, agent_id: theirs.id, overrides: { runner_ids: [runner_id] } })
  expect(await refusalOf(claim())).toBe('not_found')
  expect(await refusalOf(guest.client.call('runners.update', { runner_id, config: { shared: true } }))).toBe(
    'admin_required',
  )
  expect(await refusalOf(client.call('runners.update', { runner_id, config: { image: 'node' } }))).toBe(
    'validation_failed',
  )
  await client.call('runners.update', { runner_id, config: { shared: true } })
  await far.isReady()
  await claim()
  await job.running.taskWhere(task.id, (one) => one.status === 'review')
})

test('takes one live program a machine, refuses another version, and forgets a revoked token', async () => {
  await using far = await startDaemonJob()
  const { job, daemon_id, runner_id, token } = far
  const { client } = job.running
  const machine = job.running.clientWith(token)
  const report = (instance: string, protocol = jobProtocol, wait_seconds = 0) =>
    machine.call('daemons.report', { daemon_id: 'self', instance, protocol, wait_seconds })
  expect((await report('one')).jobs).toEqual([])
  await far.isReady()
  expect(await refusalOf(report('two'))).toBe('runner_taken')
  expect(await refusalOf(report('one', jobProtocol + 1))).toBe('runner_version')
  await client.call('runners.check', { runner_id })
  expect(await client.call('runners.get', { runner_id })).toMatchObject({ state: 'outdated' })
  await report('one')
  await client.call('runners.check', { runner_id })

  await job.settings({ runner_ids: [runner_id] })
  const task = await job.task()
  const { execution } = await job.claim(task, await job.agent('true'))
  const [first] = (await report('one', jobProtocol, 10)).jobs
  const [again] = (await report('one')).jobs
  expect(again).toMatchObject({ job_id: first?.job_id })
  expect(again?.token).not.toBe(first?.token)
  const accept = (offer: typeof first) =>
    fetch(`${job.running.url}/api/v1/jobs/${offer?.job_id ?? ''}/accept`, {
      method: 'POST',
      headers: { authorization: `Bearer ${offer?.token ?? ''}`, 'content-type': 'application/json' },
      body: JSON.stringify({ fence: offer?.fence, instance: 'one', protocol: jobProtocol }),
    })
  expect((await accept(first)).status).toBe(409)
  expect((await accept(again)).status).toBe(200)
  expect((await report('one')).jobs).toEqual([])

  await client.call('daemons.delete', { daemon_id })
  expect(await refusalOf(report('one'))).toBe('invalid_token')
  await job.running.eventually(
    () => client.call('executions.get', { execution_id: execution.id }),
    ({ status }) => status === 'lost',
  )
  await job.running.eventually(
    () => client.call('runners.get', { runner_id }),
    ({ state }) => state === 'unreachable',
  )
})

test('leaves the jobs to the next program of a machine that it names, and loses the others', async () => {
  let ahead = 0
  await using far = await startDaemonJob({ now: () => Date.now() + ahead })
  const { job, runner_id, token } = far
  const machine = job.running.clientWith(token)
  const report = (instance: string, more: { readonly wait_seconds?: number; readonly jobs?: JobId[] } = {}) =>
    machine.call('daemons.report', { daemon_id: 'self', instance, protocol: jobProtocol, ...more })
  await report('one')
  await far.isReady()
  await job.settings({ runner_ids: [runner_id] })
  const task = await job.task()
  const { execution } = await job.claim(task, await job.agent('true'))
  const [offer] = (await report('one', { wait_seconds: 10 })).jobs
  if (!offer) expect.unreachable()
  const accepted = await fetch(`${job.running.url}/api/v1/jobs/${offer.job_id}/accept`, {
    method: 'POST',
    headers: { authorization: `Bearer ${offer.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ fence: offer.fence, instance: 'one', protocol: jobProtocol }),
  })
  expect(accepted.status).toBe(200)
  const read = () => job.running.client.call('executions.get', { execution_id: execution.id })
  ahead += 31_000
  await report('two', { jobs: [offer.job_id] })
  expect(await read()).toMatchObject({ status: 'running' })
  ahead += 31_000
  await report('three')
  expect(await job.running.eventually(read, ({ status }) => status !== 'running')).toMatchObject({
    status: 'lost',
    error: expect.stringContaining('Its runner has ended.') as string,
  })
})

test('finishes a run that had ended there when its program was killed', async () => {
  let ahead = 0
  await using far = await startDaemonJob({ now: () => Date.now() + ahead })
  const { job, home, runner_id, door } = far
  const child = far.start()
  await far.isReady()
  await job.settings({ runner_ids: [runner_id] })
  const free = join(home, 'free')
  const agent = await job.agent(
    `until [ -e '${free}' ]; do sleep 0.1; done; echo work > work.txt; git add -A; git commit -qm Work`,
  )
  const task = await job.task()
  await job.claim(task, agent)
  const waiting = () => processesIn([join(home, 'runner', 'tasks')]).filter(({ command }) => command.includes('sleep'))
  await expect.poll(waiting, { timeout: 20_000 }).not.toEqual([])
  door.close()
  await writeFile(free, '')
  const jobs = join(home, 'runner', 'jobs')
  const ends = async () => (await readdir(jobs, { recursive: true })).filter((path) => path.endsWith('end.json'))
  await expect.poll(ends, { timeout: 20_000 }).toHaveLength(1)
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
  ahead += 31_000
  door.open()
  far.start()
  await job.running.taskWhere(task.id, (one) => one.status === 'review' && !one.entry_barrier)
  expect(await job.executions(task.id)).toMatchObject([{ status: 'succeeded', attempt: 1 }])
})

test('says what is wrong with an address, a token file or a token', async () => {
  await using far = await startDaemonJob()
  const { url } = far.job.running
  const file = join(far.home, 'other')
  const run = async (address: string, tokenFile: string) =>
    await endOf(startSvc(['runner', '--url', address, '--token-file', tokenFile], { env: { HOME: far.home } }))
  expect((await run('copse', file)).stderr).toContain('no address')
  expect((await run(url, file)).stderr).toContain('There is no token in')
  await writeFile(file, `svcd_${'x'.repeat(43)}`)
  expect(await run(url, file)).toMatchObject({ code: 1, stdout: '' })
  expect(await endOf(startSvc(['runner', '--url', url], {}))).toMatchObject({ code: 2, stdout: '' })
})
