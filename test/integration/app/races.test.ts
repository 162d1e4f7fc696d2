import { expect, test } from 'vitest'
import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { Task, TransitionEntry } from '../../../src-shared/contract/tasks.ts'
import type { StateHook, WorkflowDefinition } from '../../../src-shared/contract/workflow-definition.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { createProcessBeacon, wait } from '../../helpers/process-beacon.ts'

/** The default workflow with hooks of one more phase in one of its states. */
const withHooks = (name: string, hooks: Record<string, StateHook[]>) => (standard: WorkflowDefinition) => ({
  ...standard,
  states: standard.states.map((state) =>
    state.name === name ? { ...state, hooks: { ...state.hooks, ...hooks } } : state,
  ),
})

/** `ok`, or the code of the refusal. */
const answerOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'ok',
    (error: unknown) => {
      if (error instanceof ApiError) return error.code
      throw error
    },
  )

async function fiftyMoves(job: Job): Promise<{ readonly answers: readonly string[]; readonly task: Task }> {
  const { id: task_id, version } = await job.task({ status: 'backlog' })
  const clients = Array.from({ length: 50 }, () => job.running.clientWith(job.running.token))
  const answers = await Promise.all(
    clients.map((client) => answerOf(client.call('tasks.transition', { task_id, status: 'todo', version }))),
  )
  return { answers, task: await job.running.client.call('tasks.get', { task_id }) }
}

const oneOfFifty = ['ok', ...Array.from({ length: 49 }, () => 'version_conflict')].sort()

test.concurrent('lets one of 50 moves with the same version win, and answers 49 with version_conflict', async () => {
  await using job = await startJob()
  const { answers, task } = await fiftyMoves(job)
  expect([...answers].sort()).toEqual(oneOfFifty)
  expect(task).toMatchObject({ status: 'todo', version: 2 })
  expect(await job.history(task.id)).toEqual(['backlog > todo by user'])
})

test.concurrent('does so although each of the 50 waits for a before_exit script', async () => {
  await using job = await startJob({ workflow: withHooks('backlog', { before_exit: [{ script: 'sleep 0.05' }] }) })
  const { answers, task } = await fiftyMoves(job)
  expect([...answers].sort()).toEqual(oneOfFifty)
  expect(task).toMatchObject({ status: 'todo', version: 2 })
  expect(await job.history(task.id)).toEqual(['backlog > todo by user'])
})

test.concurrent('counts a killed script hook as failed, leaves the task, and notifies people', async () => {
  const hooks = { on_enter: [{ script: 'kill -9 $$' }, { script: 'true' }] }
  await using job = await startJob({ workflow: withHooks('todo', hooks) })
  const { client } = job.running
  const events: unknown[] = []
  const stop = new AbortController()
  const { id: task_id, version } = await job.task({ status: 'backlog' })
  const listening = (async () => {
    for await (const item of client.events({}, 0, stop.signal)) {
      if (item.kind !== 'event' || item.event.type !== 'transition.effect_failed') continue
      events.push(item.event.data)
      return
    }
  })()
  await client.call('tasks.transition', { task_id, status: 'todo', version })
  await listening
  stop.abort()
  const [entry] = await job.running.eventually(
    () => job.transitions(task_id),
    ([one]) => one?.hooks.length === 2,
  )
  expect(entry?.hooks).toMatchObject([
    { phase: 'on_enter', outcome: 'failed' },
    { phase: 'on_enter', outcome: 'ok' },
  ])
  expect(events).toMatchObject([{ task_id, phase: 'on_enter' }])
  expect(await client.call('tasks.get', { task_id })).toMatchObject({ status: 'todo', error_annotation: null })
})

test.concurrent('ends the entry hook of a task that is cancelled, and runs nothing after it', async () => {
  await using beacon = await createProcessBeacon()
  const hooks = { before_enter: [{ script: beacon.hold('hook', wait) }], on_enter: [{ script: 'true' }] }
  await using job = await startJob({ workflow: withHooks('todo', hooks) })
  const { client } = job.running
  const { id: task_id, version } = await job.task({ status: 'backlog' })
  await client.call('tasks.transition', { task_id, status: 'todo', version })
  await beacon.alive('hook')
  await client.call('tasks.cancel', { task_id })
  await beacon.gone('hook')
  const audit = await job.transitions(task_id)
  expect(audit.map((entry) => entry.to_state)).toEqual(['todo', 'cancelled'])
  expect(audit[0]?.hooks.filter((hook) => hook.phase === 'on_enter')).toEqual([])
})

/** The default workflow with one of two states renamed or removed, back and forth. */
const renamed = (standard: WorkflowDefinition): WorkflowDefinition => ({
  ...standard,
  initial_state: 'shelf',
  states: standard.states.map((state) => ({
    ...state,
    ...(state.name === 'backlog' && { name: 'shelf', renamed_from: 'backlog' }),
    transitions: state.transitions.map((one) => (one.to === 'backlog' ? { ...one, to: 'shelf' } : one)),
  })),
})
const without = (standard: WorkflowDefinition): WorkflowDefinition => ({
  ...standard,
  initial_state: 'todo',
  states: standard.states
    .filter((state) => state.name !== 'backlog')
    .map((state) => ({ ...state, transitions: state.transitions.filter((one) => one.to !== 'backlog') })),
})

/** Each step starts where the one before ended. */
const isUnbroken = (audit: readonly TransitionEntry[]) =>
  audit.every((entry, index) => index === 0 || entry.from_state === audit[index - 1]?.to_state)

test.concurrent.each([
  ['renames', renamed],
  ['removes', without],
])('leaves every task in an existing state while a definition that %s a state is saved', async (_, change) => {
  await using job = await startJob()
  const { client } = job.running
  const standard = await client.call('projects.get_workflow', { project_id: job.project.id })
  const tasks = await Promise.all(Array.from({ length: 10 }, () => job.task({ status: 'backlog' })))
  const moving = tasks.map(async ({ id: task_id }) => {
    const answers: string[] = []
    for (let turn = 0; turn < 6; turn++) {
      const { status, version } = await client.call('tasks.get', { task_id })
      const to = status === 'todo' ? 'backlog' : 'todo'
      answers.push(await answerOf(client.call('tasks.transition', { task_id, status: to, version })))
    }
    return answers
  })
  const update = { project_id: job.project.id, workflow_definition: JSON.stringify(change(standard)) }
  const changing = (async () => {
    const answers: string[] = []
    for (let attempt = 0; attempt < 5; attempt++) {
      answers.push(await answerOf(client.call('projects.update', update)))
      if (answers.at(-1) === 'ok') break
    }
    return answers
  })()
  const [changes, ...answers] = await Promise.all([changing, ...moving])
  const now = await client.call('projects.get_workflow', { project_id: job.project.id })
  const names = now.states.map((state) => state.name)
  for (const { id } of tasks) {
    expect(names).toContain((await client.call('tasks.get', { task_id: id })).status)
    expect(isUnbroken(await job.transitions(id))).toBe(true)
  }
  expect(['ok', 'states_in_use', 'transition_in_use']).toEqual(expect.arrayContaining([...new Set(changes)]))
  expect(['ok', 'invalid_transition', 'version_conflict']).toEqual(expect.arrayContaining([...new Set(answers.flat())]))
})
