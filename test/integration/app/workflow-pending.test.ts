import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { startJob } from '../../helpers/job.ts'
import { refused } from '../../helpers/refusal.ts'
import { move, renaming, updateWorkflow as update, without, workflowOf as workflow } from './workflow-edits.ts'

describe('a task in the middle of a transition', () => {
  /** A task whose review waits in its CI step for a file. */
  async function inReview() {
    const job = await startJob()
    const gate = join(job.running.dataDir, 'go')
    const agent = await job.agent('echo done > done.txt')
    const task = await job.task({
      review_config: { ci_steps: [`touch ${gate}.begun; while [ ! -e ${gate} ]; do sleep 0.05; done`] },
    })
    await job.claim(task, agent)
    await job.running.taskWhere(task.id, (one) => one.review_summary?.steps[0] === 'running')
    return { job, task, gate, [Symbol.asyncDispose]: () => job[Symbol.asyncDispose]() }
  }
  const open = (gate: string) => writeFile(gate, '')

  test('finishes the steps that it began, under the new names, whatever happens to the hooks', async () => {
    await using begun = await inReview()
    const { job, task, gate } = begun
    const standard = await workflow(job)
    const names = { review: 'checking', in_progress: 'working', merging: 'landing', done: 'finished' }
    const renamed = renaming(standard, names)
    const states = renamed.states.map((state) =>
      state.name === 'checking' ? { ...state, hooks: { on_exit: [{ script: 'true' }] } } : state,
    )
    await update(job, { ...renamed, states })
    const meanwhile = await job.running.client.call('tasks.get', { task_id: task.id })
    expect([meanwhile.status, meanwhile.entry_barrier]).toEqual(['checking', true])
    await open(gate)
    const passed = await job.running.taskWhere(
      task.id,
      (one) => !one.entry_barrier && one.review_summary?.status === 'passed',
    )
    expect(passed.status).toBe('checking')
    const entry = (await job.transitions(task.id)).at(-1)
    expect([entry?.from_state, entry?.to_state]).toEqual(['working', 'checking'])
    expect(entry?.hooks.map(({ phase, action, outcome }) => [phase, action, outcome])).toContainEqual([
      'before_enter',
      'run_ci_steps',
      'ok',
    ])
  })

  test('answers transition_in_use if its transition is removed before it arrives', async () => {
    await using begun = await inReview()
    const { job, task, gate } = begun
    const standard = await workflow(job)
    const states = standard.states.map((state) =>
      state.name === 'in_progress'
        ? { ...state, transitions: state.transitions.filter(({ to }) => to !== 'review') }
        : state,
    )
    const todo = states.map((state) =>
      state.name === 'todo'
        ? { ...state, transitions: [...state.transitions, { to: 'review', label: 'Review', audience: 'all' as const }] }
        : state,
    )
    const cut = { ...standard, states: todo }
    const error = await refused(update(job, cut))
    expect([error.status, error.code, error.details]).toEqual([
      409,
      'transition_in_use',
      { tasks: [task.id], transitions: [{ from: 'in_progress', to: 'review' }] },
    ])
    await open(gate)
    await job.running.taskWhere(task.id, (one) => !one.entry_barrier && one.review_summary?.status === 'passed')
    await job.running.eventually(
      () =>
        update(job, cut).then(
          () => true,
          () => false,
        ),
      (done) => done,
    )
  })

  test('finishes the steps that it began after a restart', async () => {
    await using begun = await inReview()
    const { job, task, gate } = begun
    await update(job, renaming(await workflow(job), { review: 'checking' }))
    job.running = await job.running.restart()
    await open(gate)
    const passed = await job.running.taskWhere(task.id, (one) => one.review_summary?.status === 'passed')
    expect(passed.status).toBe('checking')
  })

  test('follows a cascade to a state that is renamed while the hook runs', async () => {
    await using job = await startJob()
    const standard = await workflow(job)
    const gate = join(job.running.dataDir, 'go')
    const script = `touch ${gate}.begun; while [ ! -e ${gate} ]; do sleep 0.05; done`
    const states = standard.states.map((state) =>
      state.name === 'todo'
        ? { ...state, hooks: { after_enter: [{ script, on_success: { cascade: 'blocked' } }] } }
        : state,
    )
    await update(job, { ...standard, states })
    const task = await job.task()
    const removal = without({ ...standard, states: states.map(({ hooks: _hooks, ...state }) => state) }, 'blocked')
    await move(job, task.id, 'todo')
    const error = await refused(update(job, removal))
    expect([error.code, error.details?.['tasks']]).toEqual(['transition_in_use', [task.id]])
    await update(job, renaming(await workflow(job), { blocked: 'help', todo: 'queue' }))
    await open(gate)
    await job.running.taskWhere(task.id, (one) => one.status === 'help')
    expect(await job.history(task.id)).toEqual(['backlog > queue by user', 'queue > help by user'])
  })
})
