import { expect, test, vi } from 'vitest'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { startJob } from '../../helpers/job.ts'
import { createProcessBeacon, wait } from '../../helpers/process-beacon.ts'
import { refusalOf, refused } from '../../helpers/refusal.ts'
import { present } from '../../helpers/present.ts'

test.concurrent('lets exactly one of fifty simultaneous claims win', async () => {
  await using beacon = await createProcessBeacon()
  await using job = await startJob()
  const agents = await Promise.all(
    Array.from({ length: 50 }, (_, index) => job.agent(beacon.hold('agent', `${wait}; echo hi`), `Agent ${index}`)),
  )
  const task = await job.task()
  const answers = await Promise.allSettled(agents.map((agent) => job.claim(task, agent)))
  const winners = answers.filter((answer) => answer.status === 'fulfilled')
  expect(winners).toHaveLength(1)
  const codes = answers.flatMap((answer) =>
    answer.status === 'rejected' ? [(answer.reason as { code: string }).code] : [],
  )
  expect(new Set(codes)).toEqual(new Set(['already_claimed']))
  await beacon.alive('agent')
  expect(await job.executions(task.id)).toHaveLength(1)
  expect(await job.history(task.id)).toEqual(['backlog > in_progress by agent'])
})

test.concurrent('lets a person claim, work in the worktree and finish', async () => {
  await using job = await startJob()
  const { client } = job.running
  const task = await job.task({ review_config: { ci_steps: ['test -f mine.txt'] } })
  const claimed = await client.call('tasks.claim', { task_id: task.id })
  expect(claimed.execution).toMatchObject({ executor: 'person', role: 'coder', agent_id: null })
  const { id } = present(claimed.execution)
  await job.running.eventually(
    () => client.call('executions.get', { execution_id: id }),
    (one) => one.status === 'running',
  )
  // People's shells and editors come and go, so no lock stands for them.
  expect((await client.call('tasks.workspace', { task_id: task.id })).lock).toBeNull()
  await job.repository.write({ 'mine.txt': 'by hand' }, claimed.workspace?.path)
  const finished = await client.call('executions.finish', { execution_id: id, status: 'succeeded' })
  expect(finished.execution.status).toBe('succeeded')
  expect(finished.task.status).toBe('review')
  await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  expect(await job.history(task.id)).toEqual(['backlog > in_progress by user', 'in_progress > review by system'])
  expect(await refusalOf(client.call('executions.finish', { execution_id: id, status: 'succeeded' }))).toBe(
    'execution_not_running',
  )
})

test.concurrent('counts two reports of one end once', async () => {
  await using job = await startJob()
  const { client } = job.running
  const task = await job.task()
  const { execution } = await client.call('tasks.claim', { task_id: task.id })
  await job.running.eventually(
    () => client.call('executions.get', { execution_id: present(execution).id }),
    (one) => one.status === 'running',
  )
  const finish = () => client.call('executions.finish', { execution_id: present(execution).id, status: 'succeeded' })
  await Promise.allSettled([finish(), finish(), finish()])
  expect(await job.history(task.id)).toEqual(['backlog > in_progress by user', 'in_progress > review by system'])
})

test.concurrent('refuses agents in a paused project, lets people claim, and starts its queue on resume', async () => {
  await using job = await startJob()
  const { client } = job.running
  const agent = await job.agent('echo done > work.txt; echo done')
  const task = await job.task()
  const other = await job.task()
  const pause = (paused_at: string | null) => client.call('projects.update', { project_id: job.project.id, paused_at })
  await pause(new Date().toISOString())
  expect(await refusalOf(job.claim(task, agent))).toBe('project_paused')
  const own = await client.call('tasks.claim', { task_id: other.id })
  expect(own.task.status).toBe('in_progress')
  // A run that a person gives to the agent is queued and waits for the project.
  await client.call('executions.stop', { execution_id: present(own.execution).id })
  await client.call('tasks.assign_role', { task_id: other.id, role: 'coder', agent_id: agent.id })
  expect(await refusalOf(job.claim(other, agent))).toBe('project_paused')
  await pause(null)
  await job.claim(task, agent)
  await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
})

test.concurrent('starts queued runs when the project, then the agent, is resumed', async () => {
  await using beacon = await createProcessBeacon()
  await using job = await startJob()
  const { client } = job.running
  const agent = await job.agent(beacon.hold('agent', 'echo one; exit 1'))
  const task = await job.task()
  await job.claim(task, agent)
  await job.running.taskWhere(task.id, (one) => one.error_annotation?.type === 'execution_failed')
  await client.call('projects.update', { project_id: job.project.id, paused_at: new Date().toISOString() })
  await client.call('agents.update', { agent_id: agent.id, paused: true })
  await client.call('tasks.recover', { task_id: task.id, action: 'retry_execution' })
  expect((await job.executions(task.id))[0]?.status).toBe('queued')
  await client.call('projects.update', { project_id: job.project.id, paused_at: null })
  expect((await job.executions(task.id))[0]?.status).toBe('queued')
  await client.call('agents.update', { agent_id: agent.id, paused: false })
  await beacon.alive('agent', 2)
})

test.concurrent('refuses a claim by a paused agent', async () => {
  await using job = await startJob()
  const agent = await job.agent('echo hi')
  await job.running.client.call('agents.update', { agent_id: agent.id, paused: true })
  const task = await job.task()
  expect(await refusalOf(job.claim(task, agent))).toBe('agent_paused')
  expect(await job.history(task.id)).toEqual([])
})

test.concurrent('runs no more agents than the project allows, the others in the order of their claims', async () => {
  await using beacon = await createProcessBeacon()
  await using job = await startJob()
  await job.settings({ max_concurrent_executions: 2 })
  const names = ['first', 'second', 'third', 'fourth']
  const tasks: Task[] = []
  for (const name of names) {
    const task = await job.task({ title: name })
    tasks.push(task)
    await job.claim(task, await job.agent(beacon.hold(name, `${wait}; echo ${name}`), name))
  }
  const statuses = () => Promise.all(tasks.map(async (task) => (await job.executions(task.id))[0]?.status))
  await beacon.alive('first')
  await beacon.alive('second')
  const atFirst = await job.running.eventually(statuses, (all) => all.filter((one) => one === 'running').length === 2)
  expect(atFirst).toEqual(['running', 'running', 'queued', 'queued'])
  await beacon.release('second')
  await beacon.alive('third')
  const then = await job.running.eventually(statuses, (all) => all[2] === 'running')
  expect(then).toEqual(['running', 'succeeded', 'running', 'queued'])
  await beacon.release('first')
  await beacon.alive('fourth')
})

test.concurrent('claim rules 1 to 3: checks the guards in order', async () => {
  await using job = await startJob()
  const { client } = job.running
  const agent = await job.agent('echo w > w.txt; echo done')
  const [task, first] = [await job.task(), await job.task({ title: 'First' })]
  await client.call('tasks.add_dependency', { task_id: task.id, depends_on_id: first.id })
  await client.call('tasks.archive', { task_id: task.id })
  await client.call('projects.update', { project_id: job.project.id, paused_at: new Date().toISOString() })
  await client.call('agents.update', { agent_id: agent.id, paused: true })
  const answers: string[] = []
  const ask = async () => answers.push(await refusalOf(job.claim(task, agent)))
  await ask()
  await client.call('agents.update', { agent_id: agent.id, paused: false })
  await ask()
  await client.call('projects.update', { project_id: job.project.id, paused_at: null })
  const gate = await refused(job.claim(task, agent))
  expect(gate).toMatchObject({ status: 409, details: { depends_on: [first.id] } })
  await ask()
  await client.call('tasks.remove_dependency', { task_id: task.id, depends_on_id: first.id })
  await ask()
  expect(answers).toEqual(['agent_paused', 'project_paused', 'dependency_gate', 'not_claimable'])
  expect(await job.history(task.id)).toEqual([])
  await client.call('tasks.unarchive', { task_id: task.id })
  await job.claim(task, agent)
  await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
})

test.concurrent('claim rule 3: lets the context holder through at a dependency in review, and everyone when it is done', async () => {
  await using job = await startJob()
  const { client } = job.running
  const holder = await job.agent('echo w > "$SVC_TASK_ID.txt"; echo done', 'Holder')
  const stranger = await job.agent('echo w > "$SVC_TASK_ID.txt"; echo done', 'Stranger')
  const first = await job.task({ title: 'First' })
  const [second, third] = [await job.task({ title: 'Second' }), await job.task({ title: 'Third' })]
  for (const { id } of [second, third]) {
    await client.call('tasks.add_dependency', { task_id: id, depends_on_id: first.id })
  }
  expect(await refusalOf(job.claim(second, holder))).toBe('dependency_gate')
  await job.claim(first, holder)
  const passed = await job.running.taskWhere(first.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  expect(passed.status).toBe('review')
  expect(await refusalOf(job.claim(second, stranger))).toBe('dependency_gate')
  expect(await refusalOf(client.call('tasks.claim', { task_id: second.id }))).toBe('dependency_gate')
  await job.claim(second, holder)
  await client.call('tasks.transition', { task_id: first.id, status: 'merging', version: passed.version })
  await job.claim(third, stranger)
  await job.running.taskWhere(third.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
})

test.concurrent('says why a task can’t be claimed', async () => {
  await using job = await startJob()
  const { client } = job.running
  const agent = await job.agent('echo hi')
  const done = await job.task()
  await client.call('tasks.cancel', { task_id: done.id })
  expect(await refusalOf(job.claim(done, agent))).toBe('task_terminal')
  const archived = await job.task()
  await client.call('tasks.archive', { task_id: archived.id })
  expect(await refusalOf(job.claim(archived, agent))).toBe('not_claimable')
  const missing = await refused(client.call('tasks.claim', { task_id: archived.id, agent_id: job.project.id }))
  expect(missing).toMatchObject({ code: 'not_found', details: { resource: 'agent' } })
  // A task that a person blocked is not free to claim.
  const blocked = await job.task()
  const own = await client.call('tasks.claim', { task_id: blocked.id })
  await client.call('tasks.transition', { task_id: blocked.id, status: 'blocked', version: own.task.version })
  expect(await refusalOf(job.claim(blocked, agent))).toBe('not_claimable')
})

test.concurrent('reports a deleted agent when its turn comes', async () => {
  await using job = await startJob()
  const { client } = job.running
  const coder = await job.agent('echo done > work.txt; echo done')
  const reviewer = await job.agent('echo hm', 'Reviewer')
  const task = await job.task()
  await client.call('tasks.assign_role', { task_id: task.id, role: 'reviewer', agent_id: reviewer.id })
  await client.call('agents.delete', { agent_id: reviewer.id })
  await job.claim(task, coder)
  const stuck = await job.running.taskWhere(task.id, (one) => one.error_annotation !== null)
  expect(stuck).toMatchObject({ status: 'review', error_annotation: { type: 'execution_failed' } })
  expect(stuck.error_annotation?.message).toContain('deleted')
  expect(await refusalOf(client.call('tasks.recover', { task_id: task.id, action: 'retry_execution' }))).toBe(
    'not_claimable',
  )
  expect(await job.executions(task.id)).toHaveLength(1)
})

test('lets an external agent claim, report and finish, and marks a silent one as lost', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    let now = Date.now()
    await using job = await startJob({ clock: { now: () => now } })
    const { client } = job.running
    const agent = await client.call('agents.create', { name: 'Elsewhere', executor: 'external' })
    const heard = await job.task({ title: 'Heard' })
    const silent = await job.task({ title: 'Silent' })
    const local = await job.task({ title: 'Local' })
    const first = await job.claim(heard, agent)
    const second = await job.claim(silent, agent)
    const own = await client.call('tasks.claim', { task_id: local.id })
    const running = (id: string) => async () => (await client.call('executions.get', { execution_id: id })).status
    for (const { execution } of [first, second, own]) {
      await job.running.eventually(running(present(execution).id), (status) => status === 'running')
    }
    // A local run may send heartbeats too, but its process is watched anyway.
    await client.call('executions.heartbeat', { execution_id: present(own.execution).id })
    now += 60_000
    vi.advanceTimersByTime(15_000)
    await client.call('executions.heartbeat', { execution_id: first.execution.id })
    now += 31_000
    vi.advanceTimersByTime(15_000)
    const lost = await job.running.taskWhere(silent.id, (one) => one.error_annotation !== null)
    expect(lost).toMatchObject({ status: 'in_progress', error_annotation: { type: 'execution_lost' } })
    expect(lost.error_annotation?.message).toContain('90 seconds')
    expect(await refusalOf(client.call('executions.heartbeat', { execution_id: second.execution.id }))).toBe(
      'execution_not_running',
    )
    expect(await running(first.execution.id)()).toBe('running')
    expect(await running(present(own.execution).id)()).toBe('running')
    const finished = await client.call('executions.finish', { execution_id: first.execution.id, status: 'succeeded' })
    expect(finished.task.status).toBe('review')
    const failed = await client.call('executions.finish', {
      execution_id: present(own.execution).id,
      status: 'failed',
      summary: 'No luck',
    })
    expect(failed.task).toMatchObject({ status: 'in_progress', error_annotation: { type: 'execution_failed' } })
  } finally {
    vi.useRealTimers()
  }
})
