import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Execution } from '../../../src-shared/contract/executions.ts'
import type { RunnerId } from '../../../src-shared/contract/ids.ts'
import type { OperationInput } from '../../../src-shared/contract/operations.ts'
import type { Agent } from '../../../src-shared/contract/projects.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { startPipedPlace } from '../../helpers/piped-place.ts'
import { present } from '../../helpers/present.ts'
import { refused } from '../../helpers/refusal.ts'
import { addRunner, createTestRunners, type TestRunners } from '../../helpers/test-runners.ts'

/** Prints the process IDs of all that a shell was started by. */
const ancestors = 'p=$$; while [ "$p" -gt 1 ]; do p=$(ps -o ppid= -p "$p" | tr -d " "); echo "$p"; done'
/** Ends at the first signal, also where its shell is the first process of a container. */
const endless = 'sleep 1000 & wait'

const startWithRunners = async (): Promise<{ job: Job; runners: TestRunners }> => {
  const runners = createTestRunners()
  return { job: await startJob({ runnerKinds: runners.runnerKinds }), runners }
}

type Overrides = OperationInput<'tasks.claim'>['overrides']
const hereId = { id: 'here' }

async function claim(job: Job, agent: Agent, overrides?: Overrides, task?: Task): Promise<Execution> {
  const task_id = (task ?? (await job.task())).id
  const request = { task_id, agent_id: agent.id, ...(overrides && { overrides }) }
  return present((await job.running.client.call('tasks.claim', request)).execution)
}

const ids = (...runners: readonly { readonly id: string }[]) => runners.map(({ id }) => id as RunnerId)

const get = (job: Job, execution_id: string) => job.running.client.call('executions.get', { execution_id })

/** Returns the runner on which a run has started. */
async function startedOn(job: Job, { id }: Execution): Promise<string | null> {
  const { runner_id } = await job.running.eventually(
    () => get(job, id),
    ({ status }) => status === 'running',
  )
  return runner_id
}

const stop = (job: Job, { id }: Execution) => job.running.client.call('executions.stop', { execution_id: id })

/** Resolves with why a queued run waits, once it is not just entering. */
async function waitsFor(job: Job, execution: Execution): Promise<string | undefined> {
  const read = async () => (await queueEntry(job, execution))?.reason
  return await job.running.eventually(read, (reason) => reason !== 'entering')
}

async function queueEntry(job: Job, { id, task_id }: Execution) {
  const { project_id } = await job.running.client.call('tasks.get', { task_id })
  const { waiting } = await job.running.client.call('projects.queue', { project_id })
  return waiting.find(({ execution_id }) => execution_id === id)
}

test('keeps a task on the runner of its claim, its hooks and checks too, until a claim or `ci_runner` says otherwise', async () => {
  await using far = await startPipedPlace(await mkdtemp(join(tmpdir(), 'copse-place-')))
  const { runnerKinds } = createTestRunners(far.place)
  await using job = await startJob({ runnerKinds })
  const { client } = job.running
  const own = String(far.pid)
  const box = await addRunner(job.running, 'Box')
  const agent = await job.agent(`(${ancestors}) >> agent.log; git add -A; git commit -qm "Work"`)
  const task = await job.task({ review_config: { ci_steps: [ancestors] } })
  const queued = await claim(job, agent, { runner_ids: ids(box) }, task)
  expect(queued).toMatchObject({ attempt: 1, link: null })

  const inReview = (attempt: number) =>
    job.running.taskWhere(
      task.id,
      (one) => one.review_passed_at !== null && !one.entry_barrier && one.review_summary?.attempt_number === attempt,
    )
  await inReview(1)
  expect(await client.call('tasks.workspace', { task_id: task.id })).toMatchObject({
    runner_id: box.id,
    arrived_at: null,
    left_there: [],
  })
  await job.settings({ ci_runner: 'here' as RunnerId })
  await client.call('tasks.verdict', { task_id: task.id, verdict: 'fail', feedback: 'Again' })
  await inReview(2)

  const rounds = await job.executions(task.id)
  expect(rounds.map(({ runner_id, attempt }) => ({ runner_id, attempt }))).toEqual([
    { runner_id: box.id, attempt: 2 },
    { runner_id: box.id, attempt: 1 },
  ])
  const { items: reviews } = await client.call('tasks.reviews', { task_id: task.id })
  const checks = reviews
    .toSorted((a, b) => a.attempt_number - b.attempt_number)
    .flatMap((review) => review.step_results.map((step) => step.output_tail.split('\n').includes(own)))
  expect(checks).toEqual([true, false])
  const { branch } = await client.call('tasks.workspace', { task_id: task.id })
  const log = (await job.repository.git(['show', `${branch}:agent.log`])).split('\n')
  expect(log.filter((pid) => pid === own)).toHaveLength(2)
})

test('takes the first runner that is ready and has room: of the claim, else the agent, else the project', async () => {
  const { job, runners } = await startWithRunners()
  await using _ = job
  runners.down.add('Down')
  const [down, box, spare] = [
    await addRunner(job.running, 'Down'),
    await addRunner(job.running, 'Box'),
    await addRunner(job.running, 'Spare', { capacity: 2 }),
  ]
  expect(down).toMatchObject({ state: 'unreachable', last_error: 'Down does not answer. Start it.' })
  await job.settings({ runner_ids: ids(down, box, spare) })
  const agent = await job.agent(endless)
  const own = await job.running.client.call('agents.create', {
    name: 'Own',
    executor: 'command',
    config: { command: endless, runner_ids: ids(spare) },
  })
  expect(await startedOn(job, await claim(job, agent))).toBe(box.id)
  expect(await startedOn(job, await claim(job, agent))).toBe(spare.id)
  expect(await startedOn(job, await claim(job, own))).toBe(spare.id)
  expect(await startedOn(job, await claim(job, own, { runner_ids: ['here'] }))).toBe('here')
  const { items } = await job.running.client.call('runners.list', {})
  expect(items.map(({ name, running, capacity }) => [name, running, capacity])).toEqual([
    ['This machine', 1, null],
    ['Down', 0, 1],
    ['Box', 1, 1],
    ['Spare', 2, 2],
  ])
  expect(runners.made.get('Box')).toBe(1)
})

test('queues a run while all its runners are full, and starts it when one has room', async () => {
  const { job } = await startWithRunners()
  await using _ = job
  const box = await addRunner(job.running, 'Box')
  const agent = await job.agent(endless)
  const first = await claim(job, agent, { runner_ids: ids(box) })
  const second = await claim(job, agent, { runner_ids: ids(box) })
  expect(await startedOn(job, first)).toBe(box.id)
  expect(await waitsFor(job, second)).toBe('runner_full')
  expect((await queueEntry(job, second))?.runner_ids).toEqual([box.id])
  expect((await get(job, second.id)).runner_id).toBeNull()
  // No other run waits for it.
  expect(await startedOn(job, await claim(job, agent))).toBe('here')
  await stop(job, first)
  expect(await startedOn(job, second)).toBe(box.id)
  const third = await claim(job, agent, { runner_ids: ids(box) })
  expect(await waitsFor(job, third)).toBe('runner_full')
  await job.running.client.call('runners.update', { runner_id: box.id, capacity: 2 })
  expect(await startedOn(job, third)).toBe(box.id)
})

test('gives a runner that is short to projects in turn', async () => {
  const { job } = await startWithRunners()
  await using _ = job
  const { client } = job.running
  const box = await addRunner(job.running, 'Box')
  const other = await client.call('projects.create', { name: 'Other', repo_path: job.repository.path })
  const agent = await job.agent(endless)
  const overrides = { runner_ids: ids(box) }
  const runs: Execution[] = []
  for (const title of ['A1', 'A2', 'A3']) runs.push(await claim(job, agent, overrides, await job.task({ title })))
  runs.push(await claim(job, agent, overrides, await job.task({ title: 'B1', project_id: other.id })))
  for (const run of runs.slice(1)) expect(await waitsFor(job, run)).toBe('runner_full')
  const order: (string | undefined)[] = []
  while (order.length < runs.length) {
    const all = await job.running.eventually(
      () => Promise.all(runs.map(({ id }) => get(job, id))),
      (found) => found.some(({ status }) => status === 'running'),
    )
    const [one, ...more] = all.filter(({ status }) => status === 'running')
    expect(more).toEqual([])
    order.push((await client.call('tasks.get', { task_id: present(one).task_id })).title)
    await stop(job, present(one))
  }
  expect(order).toEqual(['A1', 'B1', 'A2', 'A3'])
})

test('refuses a claim whose runners can’t be reached, and lets one that waits start later', async () => {
  const { job, runners } = await startWithRunners()
  await using _ = job
  const { client } = job.running
  runners.down.add('Box')
  const box = await addRunner(job.running, 'Box')
  const agent = await job.agent(endless)
  const task = await job.task()
  const refusal = await refused(claim(job, agent, { runner_ids: ids(box) }, task))
  expect(refusal).toMatchObject({ code: 'runner_unreachable', details: { runners: [box.id] } })
  expect(refusal.message).toContain("Box can't be reached. Box does not answer. Start it.")
  const run = await claim(job, agent, { runner_ids: ids(box), lock_policy: 'wait' }, task)
  expect(await waitsFor(job, run)).toBe('runner_unreachable')
  expect((await queueEntry(job, run))?.runner_ids).toEqual([box.id])
  runners.down.clear()
  const { runner, steps } = await client.call('runners.check', { runner_id: box.id })
  expect(steps).toEqual([{ name: 'reach', ok: true, message: 'Box answers.', fix: null }])
  expect(runner).toMatchObject({ state: 'ready', last_error: null })
  expect(await startedOn(job, run)).toBe(box.id)
})

test('takes another runner when one turns out to be gone, and waits for it where there is no other', async () => {
  const { job, runners } = await startWithRunners()
  await using _ = job
  const box = await addRunner(job.running, 'Box')
  const spare = await addRunner(job.running, 'Spare')
  const agent = await job.agent(endless)
  runners.gone.add('Box')
  expect(await startedOn(job, await claim(job, agent, { runner_ids: ids(box, spare) }))).toBe(spare.id)
  const { state, last_error } = await job.running.client.call('runners.get', { runner_id: box.id })
  expect({ state, last_error }).toEqual({ state: 'unreachable', last_error: 'Box is gone.' })
  const waiting = await claim(job, agent, { runner_ids: ids(box), lock_policy: 'wait' })
  expect(await waitsFor(job, waiting)).toBe('runner_unreachable')
  await job.running.client.call('runners.check', { runner_id: box.id })
  expect(await startedOn(job, waiting)).toBe(box.id)
})

test('refuses runners that are unknown, of other projects, or not for the claimant', async () => {
  const { job } = await startWithRunners()
  await using _ = job
  const { client } = job.running
  const other = await client.call('projects.create', { name: 'Other', repo_path: job.repository.path })
  const theirs = await addRunner(job.running, 'Theirs', { projects: [other.id] })
  const unknown = { id: job.project.id }
  const agent = await job.agent('true')
  const outside = await client.call('agents.create', { name: 'Outside', executor: 'external' })
  const task = await job.task()
  for (const runner of [theirs, unknown]) {
    const refusal = await refused(claim(job, agent, { runner_ids: ids(hereId, runner) }, task))
    expect(refusal).toMatchObject({ code: 'not_found', details: { resource: 'runner', runner_id: runner.id } })
  }
  const setIds = client.call('projects.update_settings', { project_id: job.project.id, runner_ids: ids(theirs) })
  expect(await refused(setIds)).toMatchObject({ code: 'not_found' })
  const setCi = client.call('projects.update_settings', { project_id: job.project.id, ci_runner: theirs.id })
  expect(await refused(setCi)).toMatchObject({ code: 'not_found' })
  const setAgent = client.call('agents.update', {
    agent_id: agent.id,
    config: { command: 'true', runner_ids: ids(unknown) },
  })
  expect(await refused(setAgent)).toMatchObject({ code: 'not_found' })
  const setOutside = client.call('agents.update', { agent_id: outside.id, config: { runner_ids: ['here'] } })
  expect(await refused(setOutside)).toMatchObject({ code: 'validation_failed' })
  const given = { runner_ids: ['here'] }
  expect(await refused(claim(job, outside, given, task))).toMatchObject({ code: 'validation_failed' })
  const person = client.call('tasks.claim', { task_id: task.id, overrides: given })
  expect(await refused(person)).toMatchObject({ code: 'validation_failed' })
  const ready = client.call('tasks.start_when_ready', {
    task_id: task.id,
    agent_id: agent.id,
    overrides: { runner_ids: ids(theirs) },
  })
  expect(await refused(ready)).toMatchObject({ code: 'not_found' })
  // Without a name, these go on as ever: a person here, an agent elsewhere on no runner.
  const { execution } = await client.call('tasks.claim', { task_id: task.id })
  expect(await startedOn(job, present(execution))).toBe('here')
  const elsewhere = await claim(job, outside)
  expect(await startedOn(job, elsewhere)).toBeNull()
})

test('lets a reviewer run where the worktree is, or on `ci_runner`', async () => {
  const { job } = await startWithRunners()
  await using _ = job
  const { client } = job.running
  const [box, checks] = [await addRunner(job.running, 'Box'), await addRunner(job.running, 'Checks')]
  const coder = await job.agent('echo a > a.txt; git add -A; git commit -qm A')
  const reviewer = await job.agent(endless, 'Reviewer')
  const reviewed = async (): Promise<string | null> => {
    const task = await job.task({ title: 'Reviewed' })
    await client.call('tasks.assign_role', { task_id: task.id, role: 'reviewer', agent_id: reviewer.id })
    await claim(job, coder, { runner_ids: ids(box) }, task)
    const found = await job.running.eventually(
      () => job.executions(task.id),
      (all) => all.some(({ role, status }) => role === 'reviewer' && status === 'running'),
    )
    const run = present(found.find(({ role }) => role === 'reviewer'))
    await stop(job, run)
    return run.runner_id
  }
  expect(await reviewed()).toBe(box.id)
  await job.settings({ ci_runner: checks.id })
  expect(await reviewed()).toBe(checks.id)
})
