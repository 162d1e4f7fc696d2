import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import type { WorkflowDefinition, WorkflowState } from '../../../src-shared/contract/workflow-definition.ts'
import { startJob } from '../../helpers/job.ts'
import { refused } from '../../helpers/refusal.ts'
import { move, renaming, updateWorkflow as update, without, workflowOf as workflow } from './workflow-edits.ts'

const statesOf = (definition: WorkflowDefinition) => definition.states.map((state) => state.name)

describe('a definition that breaks a rule', () => {
  test('is refused with its rule, place and all issues, and nothing changes', async () => {
    await using job = await startJob()
    const standard = await workflow(job)
    const error = await refused(
      update(job, {
        ...standard,
        states: standard.states.map((state) =>
          state.name === 'todo' ? { ...state, column: ' ', role: 'nobody' } : state,
        ),
      }),
    )
    expect([error.status, error.code]).toEqual([400, 'workflow_invalid'])
    expect(error.details).toEqual({
      rule: 'column_empty',
      path: 'states.1.column',
      issues: [
        { rule: 'column_empty', path: 'states.1.column', message: 'todo needs a column.' },
        {
          rule: 'undeclared_role',
          path: 'states.1.role',
          message: 'todo names the role nobody, which roles does not declare.',
        },
      ],
    })
    expect(await workflow(job)).toEqual(standard)
  })

  test.each([
    ['no JSON', '{"states": ', ''],
    ['a number', '5', ''],
    ['an unknown option of a plugin', null, 'states.0.hooks.on_enter.0.config'],
    ['blocking on a state hook', null, 'states.0.hooks.on_enter.0.blocking'],
  ])('rejects %s with schema', async (what, text, path) => {
    await using job = await startJob()
    const standard = await workflow(job)
    const hook = what.startsWith('an') ? { plugin: 'run_merge', config: { magic: 1 } } : { script: 'x', blocking: true }
    const [first, ...rest] = standard.states
    const hooked = { ...standard, states: [{ ...first, hooks: { on_enter: [hook] } }, ...rest] }
    const error = await refused(update(job, text ?? hooked))
    expect([error.status, error.code, error.details?.['rule'], error.details?.['path']]).toEqual([
      400,
      'workflow_invalid',
      'schema',
      path,
    ])
  })

  test('keeps a saved workflow whose gate settings have no gate, but does not save it again', async () => {
    await using job = await startJob()
    const standard = await workflow(job)
    const old = JSON.stringify({
      ...standard,
      states: standard.states.map((state) =>
        state.name === 'in_progress' ? { ...state, gate_config: { max_rejections: 2 } } : state,
      ),
    })
    const database = new Database(join(job.running.dataDir, 'copse.db'))
    database.prepare('update projects set workflow_definition = ? where id = ?').run(old, job.project.id)
    database.close()
    job.running = await job.running.restart()
    const task = await job.task()
    await job.claim(task, await job.agent('echo done'))
    await job.running.taskWhere(task.id, ({ status, review_passed_at }) => status === 'review' && !!review_passed_at)
    const error = await refused(update(job, old))
    expect([error.status, error.details?.['rule'], error.details?.['path']]).toEqual([
      400,
      'schema',
      'states.3.gate_config',
    ])
  })

  test('accepts 1,000 states and nearly 1 MB, with any names, and answers at once', async () => {
    await using job = await startJob()
    const names = ['__proto__', 'constructor', ...Array.from({ length: 998 }, (_, at) => `state ${at}`)]
    const states = names.map((name, at) => ({
      name,
      kind: at === 0 ? 'initial' : at === 999 ? 'terminal' : 'custom',
      column: 'A',
      label: name,
      transitions: names.slice(at + 1, at + 18).map((to) => ({ to, label: 'Go' })),
    }))
    const text = JSON.stringify({ states })
    expect(text.length).toBeGreaterThan(600_000)
    await update(job, text)
    const task = await job.task()
    expect(task.status).toBe('__proto__')
    await move(job, task.id, 'constructor')
    expect((await move(job, task.id, 'state 3')).task.status).toBe('state 3')
    expect(await job.history(task.id)).toEqual(['__proto__ > constructor by user', 'constructor > state 3 by user'])
    const renamed = states.map((state, at) => ({ ...state, name: `new ${at}`, renamed_from: state.name }))
    const numbers = new Map(names.map((name, at) => [name, `new ${at}`]))
    await update(job, {
      states: renamed.map((state) => ({
        ...state,
        transitions: state.transitions.map(({ to, label }) => ({ to: numbers.get(to) ?? '', label })),
      })),
    })
    expect(await job.history(task.id)).toEqual(['new 0 > new 1 by user', 'new 1 > new 5 by user'])
  })
})

describe('a state', () => {
  test('may be added, and removed while it has no active task', async () => {
    await using job = await startJob()
    const standard = await workflow(job)
    const extra: WorkflowState = { name: 'extra', kind: 'custom', column: 'X', label: 'Extra', transitions: [] }
    const states = standard.states.map((state) =>
      state.name === 'backlog'
        ? { ...state, transitions: [...state.transitions, { to: 'extra', label: 'Aside', audience: 'all' as const }] }
        : state,
    )
    await update(job, { ...standard, states: [...states, extra] })
    const task = await job.task()
    await move(job, task.id, 'extra')
    const error = await refused(update(job, standard))
    expect([error.status, error.code, error.details]).toEqual([
      409,
      'states_in_use',
      { states: ['extra'], tasks: [task.id] },
    ])
    expect(statesOf(await workflow(job))).toContain('extra')
    await job.running.client.call('tasks.archive', { task_id: task.id })
    await update(job, standard)
    expect(await workflow(job)).toEqual(standard)
    // Its state is gone, so the task starts over.
    const { task: back } = await job.running.client.call('tasks.unarchive', { task_id: task.id })
    expect([back.status, back.archived]).toEqual(['backlog', false])
    expect(await job.history(task.id)).toEqual(['backlog > extra by user', 'extra > backlog by user'])
    expect((await job.transitions(task.id)).at(-1)?.trigger_reason).toBe('The workflow no longer has extra.')
    expect((await move(job, task.id, 'todo')).task.status).toBe('todo')
  })

  test('is kept for an archived task that comes back, while the workflow has it', async () => {
    await using job = await startJob()
    const task = await job.task({ status: 'todo' })
    await job.running.client.call('tasks.archive', { task_id: task.id })
    const { task: back } = await job.running.client.call('tasks.unarchive', { task_id: task.id })
    expect([back.status, await job.history(task.id)]).toEqual(['todo', []])
  })

  test('is renamed with its tasks, archived ones too, and their audit, with an event', async () => {
    await using job = await startJob()
    const standard = await workflow(job)
    const [one, two, other] = [await job.task(), await job.task(), await job.task()]
    for (const task of [one, two]) await move(job, task.id, 'todo')
    await job.running.client.call('tasks.archive', { task_id: two.id })
    const before = await job.running.client.call('tasks.get', { task_id: one.id })
    const heard: string[] = []
    const stop = new AbortController()
    const events = (async () => {
      for await (const item of job.running.client.events({}, null, stop.signal)) {
        if (item.kind !== 'event') continue
        const { event } = item
        if (event.type === 'task.updated') heard.push(`${event.data.task.status} ${event.data.task_id}`)
        if (event.type === 'project.updated') heard.push('project')
        if (heard.length === 3) return
      }
    })()
    await update(job, renaming(standard, { todo: 'queue' }))
    await events.finally(() => {
      stop.abort()
    })
    expect(heard).toEqual(['project', ...[one, two].map((task) => `queue ${task.id}`)])
    const after = await job.running.client.call('tasks.get', { task_id: one.id })
    expect([after.status, after.version]).toEqual(['queue', before.version + 1])
    expect(await job.history(two.id)).toEqual(['backlog > queue by user'])
    expect((await job.running.client.call('tasks.get', { task_id: other.id })).status).toBe('backlog')
    // The stored text does not contain the old name, so that the same text may be sent again.
    const stored = await job.running.client.call('projects.get', { project_id: job.project.id })
    expect(stored.workflow_definition).not.toContain('renamed_from')
    await update(job, stored.workflow_definition)
  })

  test('may swap its name with another, or pass it on in a chain', async () => {
    await using job = await startJob()
    const standard = await workflow(job)
    const [here, there] = [await job.task(), await job.task({ status: 'todo' })]
    const status = async () =>
      Promise.all(
        [here, there].map(async ({ id }) => (await job.running.client.call('tasks.get', { task_id: id })).status),
      )
    await update(job, renaming(standard, { backlog: 'todo', todo: 'backlog' }))
    expect(await status()).toEqual(['todo', 'backlog'])
    await update(job, renaming(await workflow(job), { todo: 'ideas', backlog: 'todo' }))
    expect(await status()).toEqual(['ideas', 'todo'])
  })

  test('can’t be renamed from an unknown one, nor two from one', async () => {
    await using job = await startJob()
    const standard = await workflow(job)
    const from = (renames: Readonly<Record<string, string>>) => ({
      ...standard,
      states: standard.states.map((state) => ({
        ...state,
        ...(renames[state.name] !== undefined && { renamed_from: renames[state.name] }),
      })),
    })
    for (const renames of [{ todo: 'nowhere' }, { todo: 'todo', review: 'todo' }]) {
      const error = await refused(update(job, from(renames as never)))
      expect([error.status, error.code, error.details?.['rule']]).toEqual([400, 'workflow_invalid', 'schema'])
    }
  })
})

describe('the default', () => {
  test.each(['', '{}', '  {} '])('%j puts the shipped default back in force', async (text) => {
    await using job = await startJob()
    const standard = await workflow(job)
    await update(job, renaming(standard, { review: 'checking' }))
    const task = await job.task()
    await update(job, text)
    expect(await workflow(job)).toEqual(standard)
    expect((await job.running.client.call('tasks.get', { task_id: task.id })).status).toBe('backlog')
  })

  test('is not restored over tasks whose state it lacks', async () => {
    await using job = await startJob()
    await update(job, renaming(await workflow(job), { backlog: 'ideas' }))
    const task = await job.task()
    expect((await refused(update(job, '{}'))).details).toEqual({ states: ['ideas'], tasks: [task.id] })
  })
})

test('may be removed together with all transitions to it', async () => {
  await using job = await startJob()
  const standard = await workflow(job)
  await update(job, without(standard, 'blocked'))
  expect(statesOf(await workflow(job))).not.toContain('blocked')
})
