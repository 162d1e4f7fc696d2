import { expect, test } from 'vitest'
import type { WorkflowDefinition, WorkflowState } from '../../../src-shared/contract/workflow-definition.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { present } from '../../helpers/present.ts'
import { refused } from '../../helpers/refusal.ts'

/** The default workflow with keys added to some of its states. */
const withKeys = (keys: Readonly<Record<string, Partial<WorkflowState>>>) => (standard: WorkflowDefinition) => ({
  ...standard,
  states: standard.states.map((state) => ({ ...state, ...keys[state.name] })),
})
const oneInWork = withKeys({ in_progress: { wip_limit: 1 } })
/** An agent that works until it is stopped. */
const endless = 'exec tail -f /dev/null'
const statusOf = async (job: Job, id: string) => (await job.running.client.call('tasks.get', { task_id: id })).status

test.concurrent('refuses an agent’s claim beyond the limit and says what is there, but allows a person’s', async () => {
  await using job = await startJob({ workflow: oneInWork })
  const { client } = job.running
  const agent = await job.agent(endless)
  const [first, second] = [await job.task(), await job.task()]
  await job.claim(first, agent)

  const claim = client.call('tasks.claim', { task_id: second.id, agent_id: agent.id })
  expect(await refused(claim)).toMatchObject({
    code: 'wip_limit',
    message: expect.stringContaining('is full (1 of 1)') as string,
    details: { state: 'in_progress', limit: 1, tasks: [first.id] },
  })
  expect(await statusOf(job, second.id)).toBe('backlog')

  const own = await client.call('tasks.claim', { task_id: second.id })
  expect(own.task.status).toBe('in_progress')
})

test.concurrent('lets in only as many simultaneous claims as there is room', async () => {
  await using job = await startJob({ workflow: withKeys({ in_progress: { wip_limit: 2 } }) })
  const agent = await job.agent(endless)
  const tasks = await Promise.all(Array.from({ length: 5 }, () => job.task()))
  const claims = tasks.map(({ id }) => job.running.client.call('tasks.claim', { task_id: id, agent_id: agent.id }))
  const ends = await Promise.allSettled(claims)
  expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
  const codes = ends.flatMap((end) => (end.status === 'rejected' ? [(end.reason as { code: string }).code] : []))
  expect(codes).toEqual(['wip_limit', 'wip_limit', 'wip_limit'])
})

test.concurrent('waits with lock_policy "wait", also across a restart, and starts when there is room', async () => {
  await using job = await startJob({ workflow: oneInWork })
  const { client } = job.running
  const agent = await job.agent(endless)
  const [first, second] = [await job.task(), await job.task()]
  const { task } = await job.claim(first, agent)

  const overrides = { lock_policy: 'wait' as const, prompt: 'Only this.' }
  const waiting = await client.call('tasks.claim', { task_id: second.id, agent_id: agent.id, overrides })
  expect(waiting).toMatchObject({
    execution: null,
    workspace: null,
    task: { status: 'backlog', start_when_ready: { agent_id: agent.id } },
  })
  job.running = await job.running.restart()
  expect(await statusOf(job, second.id)).toBe('backlog')

  await job.running.client.call('tasks.cancel', { task_id: task.id })
  const started = await job.running.taskWhere(second.id, ({ status }) => status === 'in_progress')
  expect(started.start_when_ready).toBeNull()
  expect((await job.executions(second.id))[0]).toMatchObject({ prompt: 'Only this.', agent_id: agent.id })
})

test.concurrent('returns rejected work to a full state', async () => {
  await using job = await startJob({ workflow: oneInWork })
  const { client } = job.running
  const [done, busy] = [await job.agent('echo done > done.txt; echo done', 'Quick'), await job.agent(endless)]
  const { task } = await job.claim(await job.task(), done)
  const reviewed = await job.running.taskWhere(task.id, (one) => one.status === 'review' && !one.entry_barrier)
  await job.claim(await job.task(), busy)
  await client.call('tasks.verdict', {
    task_id: task.id,
    verdict: 'fail',
    feedback: 'Again.',
    version: reviewed.version,
  })
  expect(await statusOf(job, task.id)).toBe('in_progress')
})

test.concurrent('claims the next tasks for a state that pulls, in board order, while it has room', async () => {
  await using job = await startJob({ workflow: withKeys({ in_progress: { wip_limit: 1, pulls: true } }) })
  const { client } = job.running
  const agent = await job.agent(endless)
  // With another agent it is open who takes what nobody has.
  await job.agent(endless, 'Other')
  const later = await job.task({ title: 'Later', status: 'todo' })
  const unassigned = await job.task({ title: 'Nobody has it', status: 'todo' })
  const sooner = await job.task({ title: 'Sooner', status: 'todo' })
  const blocker = await job.task({ title: 'Not done', status: 'todo' })
  const dependent = await job.task({ title: 'Depends', status: 'todo' })
  await client.call('tasks.add_dependency', { task_id: dependent.id, depends_on_id: blocker.id })
  // A person works on it, so the state is full while the rest is set up.
  await client.call('tasks.claim', { task_id: blocker.id })
  for (const { id } of [later, sooner, dependent])
    await client.call('tasks.assign_role', { task_id: id, role: 'coder', agent_id: agent.id })
  await client.call('tasks.update', { task_id: sooner.id, above: later.id })
  expect(await statusOf(job, sooner.id)).toBe('todo')

  await client.call('tasks.cancel', { task_id: blocker.id })
  await job.running.taskWhere(sooner.id, ({ status }) => status === 'in_progress')
  expect(await Promise.all([later, unassigned, dependent].map(({ id }) => statusOf(job, id)))).toEqual([
    'todo',
    'todo',
    'todo',
  ])
  expect((await job.history(sooner.id)).at(-1)).toBe('todo > in_progress by agent')

  await client.call('tasks.cancel', { task_id: sooner.id })
  await job.running.taskWhere(later.id, ({ status }) => status === 'in_progress')
  expect(await statusOf(job, unassigned.id)).toBe('todo')
})

for (const status of ['todo', 'backlog']) {
  test.concurrent(`draws a task from ${status} that nobody has for the only agent, and as soon as there is one`, async () => {
    await using job = await startJob({ workflow: withKeys({ in_progress: { pulls: true }, todo: { pulls: true } }) })
    const task = await job.task({ status })
    const agent = await job.agent(endless)
    const drawn = await job.running.taskWhere(task.id, (one) => one.status === 'in_progress')
    expect(drawn.roles).toMatchObject({ coder: { type: 'agent', id: agent.id } })
  })
}

test.concurrent('draws nothing for an agent that is paused, until it is resumed', async () => {
  await using job = await startJob({ workflow: withKeys({ in_progress: { pulls: true } }) })
  const { client } = job.running
  const agent = await job.agent(endless)
  await client.call('agents.update', { agent_id: agent.id, paused: true })
  const task = await job.task({ status: 'todo' })
  expect(await statusOf(job, task.id)).toBe('todo')
  await client.call('agents.update', { agent_id: agent.id, paused: false })
  await job.running.taskWhere(task.id, (one) => one.status === 'in_progress')
})

test.concurrent('pulls nothing into a paused project, but from the backlog too', async () => {
  await using job = await startJob({ workflow: withKeys({ todo: { wip_limit: 2, pulls: true } }) })
  const { client } = job.running
  const { id: project_id } = job.project
  await client.call('projects.update', { project_id, paused_at: new Date().toISOString() })
  const ideas = await Promise.all([1, 2, 3].map((number) => job.task({ title: `Idea ${number}`, status: 'backlog' })))
  expect(new Set(await Promise.all(ideas.map(({ id }) => statusOf(job, id))))).toEqual(new Set(['backlog']))
  await client.call('projects.update', { project_id, paused_at: null })
  const queued = async () =>
    (await Promise.all(ideas.map(({ id }) => statusOf(job, id)))).filter((one) => one === 'todo')
  await job.running.eventually(queued, (those) => those.length === 2)
  const [pulled] = present((await client.call('tasks.list', { project_id, status: 'todo' })).items)
  expect((await job.transitions(present(pulled).id)).at(-1)).toMatchObject({
    triggered_by: 'system',
    trigger_reason: 'To do had room.',
  })
})

test.concurrent('refuses a workflow with a key that could have no effect', async () => {
  await using job = await startJob()
  const { client } = job.running
  const standard = await client.call('projects.get_workflow', { project_id: job.project.id })
  const save = (keys: Readonly<Record<string, Partial<WorkflowState>>>) =>
    refused(
      client.call('projects.update', {
        project_id: job.project.id,
        workflow_definition: JSON.stringify(withKeys(keys)(standard)),
      }),
    )
  expect(await save({ done: { wip_limit: 3 } })).toMatchObject({
    code: 'workflow_invalid',
    details: { path: expect.stringMatching(/wip_limit$/) as string },
  })
  expect(await save({ done: { pulls: true } })).toMatchObject({
    message: expect.stringContaining('is terminal') as string,
  })
  expect(await save({ merging: { pulls: true } })).toMatchObject({
    message: expect.stringContaining('it merges') as string,
  })
  expect(await save({ in_progress: { wip_limit: 0 } })).toMatchObject({ code: 'workflow_invalid' })
})
