import { existsSync } from 'node:fs'
import { access, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { RunnerId } from '../../../src-shared/contract/ids.ts'
import type { Job } from '../../helpers/job.ts'
import { oldestIn, processesIn } from '../../helpers/processes-in.ts'
import { programsWithout, startSshJob } from '../../helpers/ssh-job.ts'
import { sshd } from '../../fakes/git-ssh-server.ts'

test.runIf(sshd !== null)('runs an agent over ssh, through a cut link, and leaves nothing there', async () => {
  await using far = await startSshJob()
  const { job, home, server, runner_id } = far
  const { client } = job.running
  const agent = await job.agent(
    'echo begun > begun.txt; while [ ! -e go.txt ]; do sleep 0.2; done; rm go.txt; pwd > where.txt; until curl -s -o /dev/null "$SVC_API_URL/api/v1/system"; do sleep 0.2; done; curl -s -o /dev/null -w "%{http_code} " -H "Authorization: Bearer $SVC_API_TOKEN" "$SVC_API_URL/api/v1/tasks/$SVC_TASK_ID" > own.txt; curl -s -o /dev/null -w "%{http_code}" "$SVC_API_URL/api/v1/system" >> own.txt; git add -A; git commit -qm Work',
  )
  const task = await job.task({ review_config: { ci_steps: ['cat own.txt'] } })
  await job.claim(task, agent)
  // Its file has come, uncommitted, while it works.
  const seen = () => client.call('tasks.diff', { task_id: task.id, scope: 'branch' })
  await job.running.eventually(seen, ({ files }) => files.some(({ path }) => path === 'begun.txt'))
  const before = server.connections()
  server.cut()
  const folder = join(home, '.copse-runner', runner_id, 'tasks', task.id, 'worktree')
  await writeFile(join(folder, 'go.txt'), '')
  const reviewed = await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  expect(server.connections()).toBeGreaterThan(before)
  expect(reviewed.status).toBe('review')
  const { items: reviews } = await client.call('tasks.reviews', { task_id: task.id })
  // The run's own token opens its task there; without one, the link opens nothing.
  expect(reviews[0]?.step_results[0]?.output_tail).toContain('200 401')
  const { files } = await seen()
  expect(files.map(({ path }) => path).sort()).toEqual(['begun.txt', 'own.txt', 'where.txt'])

  await job.settings({ runner_ids: ['here' as RunnerId] })
  expect(processesIn([home])).not.toEqual([])
  await client.call('runners.delete', { runner_id })
  await expect.poll(() => processesIn([home])).toEqual([])
})

/** What the agent said, each line once. */
async function saidBy({ running }: Job, execution_id: string): Promise<readonly string[]> {
  const name = `agent-${execution_id}.jsonl`
  const { data_base64 } = await running.client.call('executions.read_log', { execution_id, name })
  const lines = Buffer.from(data_base64, 'base64').toString('utf8').trim().split('\n')
  const entries = lines.map((line) => JSON.parse(line) as { type: string; text?: string })
  return entries.flatMap(({ type, text = '' }) => (type === 'stdout' ? text.trim().split('\n') : []))
}

test.runIf(sshd !== null)('goes on with a run there when the service restarts, and nothing is missing', async () => {
  await using far = await startSshJob()
  const { job, home, runner_id } = far
  const agent = await job.agent(
    'echo one; echo sent > sent.txt; git add -A; git commit -qm First; until [ -e go.txt ]; do echo tick >> ticks.txt; sleep 0.2; done; rm go.txt; echo two; git add -A; git commit -qm Second; curl -s -o /dev/null -w "%{http_code}" -H "Authorization: Bearer $SVC_API_TOKEN" "$SVC_API_URL/api/v1/tasks/$SVC_TASK_ID"',
  )
  const task = await job.task()
  const { execution } = await job.claim(task, agent)
  const seen = () => job.running.client.call('tasks.diff', { task_id: task.id, scope: 'branch' })
  await job.running.eventually(seen, ({ files }) => files.some(({ path }) => path === 'ticks.txt'))
  const folder = join(home, '.copse-runner', runner_id, 'tasks', task.id, 'worktree')
  const before = oldestIn(folder)
  expect(before).toBeDefined()

  job.running = await job.running.restart()
  const read = () => job.running.client.call('executions.get', { execution_id: execution.id })
  expect(await read()).toMatchObject({ status: 'running', attempt: 1, link: { state: 'lost' } })
  await job.running.eventually(read, ({ link }) => link?.state === 'connected')
  // The same shell is still there.
  expect(oldestIn(folder)).toEqual(before)
  await writeFile(join(folder, 'go.txt'), '')
  await job.running.taskWhere(task.id, (one) => one.status === 'review' && !one.entry_barrier)
  expect(await read()).toMatchObject({ status: 'succeeded', attempt: 1 })
  expect(await saidBy(job, execution.id)).toEqual(['one', 'two', '200'])
  expect(await job.executions(task.id)).toHaveLength(1)
  const { files } = await seen()
  expect(files.map(({ path }) => path).sort()).toEqual(['sent.txt', 'ticks.txt'])
})

test.runIf(sshd !== null)('takes the end of a run that came while the service was down', async () => {
  await using far = await startSshJob()
  const { job, home, runner_id } = far
  const agent = await job.agent(
    'echo one > one.txt; until [ -e go.txt ]; do sleep 0.1; done; rm go.txt; echo late > late.txt; git add -A; git commit -qm Late; echo over > ../../../over',
  )
  const task = await job.task()
  const { execution } = await job.claim(task, agent)
  const seen = () => job.running.client.call('tasks.diff', { task_id: task.id, scope: 'branch' })
  await job.running.eventually(seen, ({ files }) => files.some(({ path }) => path === 'one.txt'))
  const there = join(home, '.copse-runner', runner_id)
  await job.running.app.close()
  await writeFile(join(there, 'tasks', task.id, 'worktree', 'go.txt'), '')
  await expect
    .poll(() =>
      access(join(there, 'over')).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true)
  job.running = await job.running.restart()
  await job.running.taskWhere(task.id, (one) => one.status === 'review' && !one.entry_barrier)
  const { files } = await seen()
  expect(files.map(({ path }) => path).sort()).toEqual(['late.txt', 'one.txt'])
  expect(await job.executions(task.id)).toMatchObject([{ id: execution.id, status: 'succeeded', attempt: 1 }])
})

/** Claims a task while its machine can't be reached, and waits until the runner is known to be. */
async function claimOutOfReach({ job, server, runner_id }: Awaited<ReturnType<typeof startSshJob>>) {
  server.setUp(false)
  server.cut()
  const task = await job.task()
  const { execution } = await job.claim(task, await job.agent('echo one > one.txt; git add -A; git commit -qm Work'))
  const { last_error } = await job.running.eventually(
    () => job.running.client.call('runners.get', { runner_id }),
    ({ state }) => state === 'unreachable',
  )
  return { task, execution, last_error }
}

test.runIf(sshd !== null)('keeps a run queued whose runner is dead when it starts', async () => {
  await using far = await startSshJob()
  const { job, server, runner_id } = far
  const { client } = job.running
  const { task, execution, last_error } = await claimOutOfReach(far)
  expect(last_error).toMatch(/^far can’t be reached: ./)
  expect(await client.call('executions.get', { execution_id: execution.id })).toMatchObject({
    status: 'queued',
    attempt: 1,
    error: null,
  })
  const { steps } = await client.call('runners.check', { runner_id })
  expect(steps.at(-1)).toMatchObject({ name: 'reach', fix: `Try “ssh -F ${server.ssh_config} far” in a terminal.` })
  server.setUp(true)
  expect((await client.call('runners.check', { runner_id })).runner.state).toBe('ready')
  await job.running.taskWhere(task.id, (one) => one.status === 'review' && !one.entry_barrier)
  expect(await job.executions(task.id)).toMatchObject([{ id: execution.id, status: 'succeeded', attempt: 1 }])
})

test.runIf(sshd !== null)('says that the program does not work there, and brings it again', async () => {
  await using far = await startSshJob()
  const { job, home, runner_id } = far
  const folder = join(home, '.copse-runner', runner_id)
  const name = (await readdir(folder)).find((file) => file.endsWith('.mjs')) ?? ''
  await writeFile(join(folder, name), "throw new Error('half of a program')")
  const check = async () => {
    const { runner, steps } = await job.running.client.call('runners.check', { runner_id })
    return { state: runner.state, program: steps.find((step) => step.name === 'program') }
  }
  expect(await check()).toMatchObject({
    state: 'unreachable',
    program: { ok: false, message: expect.stringContaining('The runner’s program doesn’t work there: ') as string },
  })
  expect(await check()).toMatchObject({ state: 'ready', program: { ok: true } })
})

test.runIf(sshd !== null)('starts a run once its runner is connected again, and waits for no check', async () => {
  await using far = await startSshJob()
  const { job, server, runner_id } = far
  const { client } = job.running
  const { task } = await claimOutOfReach(far)
  server.setUp(true)
  const since = performance.now()
  await job.running.eventually(
    () => client.call('runners.get', { runner_id }),
    ({ state }) => state === 'ready',
  )
  // A runner that is not ready is checked once a minute.
  expect(performance.now() - since).toBeLessThan(30_000)
  await job.running.taskWhere(task.id, (one) => one.status === 'review' && !one.entry_barrier)
})

// Places where the runner looks besides PATH.
const hasOther = ['/usr/local/bin/node', '/opt/homebrew/bin/node', '/opt/node/bin/node'].some((path) =>
  existsSync(path),
)
if (hasOther) console.warn('left out: Node brought to a machine without it (this one has Node beside PATH)')

test.runIf(sshd !== null && !hasOther)('brings its own Node where there is none, or an old one', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'copse-programs-'))
  const path = await programsWithout(folder, ['node', 'nodejs'])
  await using far = await startSshJob({ path })
  const { job, home, runner_id } = far
  const { client } = job.running
  const own = join(home, '.copse-runner', runner_id, `node-${process.versions.node}`)
  const step = async () => {
    const { steps } = await client.call('runners.check', { runner_id })
    return steps.find(({ name }) => name === 'node')
  }
  expect(await step()).toMatchObject({ ok: true, message: `Node ${process.versions.node}.` })
  const task = await job.task()
  await job.claim(
    task,
    await job.agent('command -v node > node.txt; echo one > one.txt; git add -A; git commit -qm One'),
  )
  await job.running.taskWhere(task.id, (one) => one.status === 'review' && !one.entry_barrier)
  // Agents don't get it.
  const { files } = await client.call('tasks.diff', { task_id: task.id, scope: 'branch' })
  expect(files.map(({ path: name, additions }) => [name, additions])).toEqual([
    ['node.txt', 0],
    ['one.txt', 1],
  ])
  // An old one is not enough, and a machine of another kind is told what to do.
  await writeFile(join(path, 'node'), '#!/bin/sh\n[ "$1" = --version ] && echo v18.1.0 || echo 18\n', { mode: 0o755 })
  await rm(own)
  await rm(join(path, 'uname'))
  await writeFile(join(path, 'uname'), '#!/bin/sh\necho Linux riscv64\n', { mode: 0o755 })
  expect(await step()).toMatchObject({
    ok: false,
    message: 'Node 18.1.0 is too old.',
    fix: `Install Node 24 or newer there. Copse has one for linux ${process.arch} alone; that is linux riscv64.`,
  })
  await rm(folder, { recursive: true })
})
