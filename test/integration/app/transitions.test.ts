import { expect, test } from 'vitest'
import { startJob, type Job } from '../../helpers/job.ts'
import { createProcessBeacon, wait, type ProcessBeacon } from '../../helpers/process-beacon.ts'
import { refusalOf, refused } from '../../helpers/refusal.ts'

/** A task whose CI waits for the test. */
async function taskInCi(job: Job, beacon: ProcessBeacon) {
  const step = beacon.hold('ci', `(sleep 1000 & ${wait}); kill $(jobs -p) 2>/dev/null; echo checked`)
  const task = await job.task({ review_config: { ci_steps: [step] } })
  const { path } = await job.claim(task, await job.agent('echo x >> work.txt; echo done'))
  await beacon.alive('ci')
  return { path, task: await job.running.client.call('tasks.get', { task_id: task.id }) }
}

test.concurrent('moves no task while its CI runs, except to cancel it, which ends the CI', async () => {
  await using beacon = await createProcessBeacon()
  await using job = await startJob()
  const { client } = job.running
  const { task } = await taskInCi(job, beacon)
  expect(task).toMatchObject({ status: 'review', entry_barrier: true, review_summary: { steps: ['running'] } })
  const move = { task_id: task.id, version: task.version }
  expect(await refusalOf(client.call('tasks.transition', { ...move, status: 'merging' }))).toBe('entry_barrier')
  expect(await refusalOf(client.call('tasks.transition', { ...move, status: 'in_progress' }))).toBe('entry_barrier')
  expect(await refusalOf(client.call('tasks.verdict', { task_id: task.id, verdict: 'pass' }))).toBe('entry_barrier')
  const { items: moves } = await client.call('tasks.moves', { task_id: task.id })
  expect(moves.filter((one) => one.allowed).map((one) => one.to)).toEqual(['cancelled'])
  const cancelled = await client.call('tasks.cancel', { task_id: task.id })
  await beacon.gone('ci')
  expect(cancelled.task).toMatchObject({
    status: 'cancelled',
    review_summary: { status: 'cancelled', steps: ['waiting'] },
  })
  await job.running.eventually(
    () => client.call('tasks.workspace', { task_id: task.id }),
    (one) => one.status === 'cleanup_scheduled',
  )
  const { items: reviews } = await client.call('tasks.reviews', { task_id: task.id })
  expect(reviews).toMatchObject([{ status: 'cancelled', step_results: [] }])
  expect((await client.call('tasks.get', { task_id: task.id })).review_passed_at).toBeNull()
})

test.concurrent('ends the CI of a deleted task', async () => {
  await using beacon = await createProcessBeacon()
  await using job = await startJob()
  const { client } = job.running
  const { task } = await taskInCi(job, beacon)
  await client.call('tasks.delete', { task_id: task.id })
  await beacon.gone('ci')
  expect(await refusalOf(client.call('tasks.get', { task_id: task.id }))).toBe('not_found')
})

test.concurrent('ends the CI of a deleted project and leaves the repository', async () => {
  await using beacon = await createProcessBeacon()
  await using job = await startJob()
  const { client } = job.running
  await taskInCi(job, beacon)
  const before = await job.repository.git(['branch', '--list'])
  await client.call('projects.delete', { project_id: job.project.id })
  await beacon.gone('ci')
  expect(await job.repository.git(['branch', '--list'])).toBe(before)
  expect((await client.call('projects.list', {})).items).toEqual([])
})

test.concurrent('returns the task to the queue when its coder is replaced during CI', async () => {
  await using beacon = await createProcessBeacon()
  await using job = await startJob()
  const { client } = job.running
  const { task } = await taskInCi(job, beacon)
  const other = await job.agent('echo y >> work.txt; echo done', 'Other')
  const given = await client.call('tasks.assign_role', { task_id: task.id, role: 'coder', agent_id: other.id })
  await beacon.gone('ci')
  expect(given.task).toMatchObject({ status: 'todo', review_passed_at: null, active_execution_id: null })
  const { items: reviews } = await client.call('tasks.reviews', { task_id: task.id })
  expect(reviews[0]?.status).toBe('cancelled')
  await job.claim(given.task, other)
  await beacon.alive('ci', 2)
  await beacon.release('ci', 2)
  await job.running.taskWhere(task.id, (one) => one.review_summary?.status === 'passed')
})

test.concurrent('ends a replaced coder, and claims nothing by itself', async () => {
  await using beacon = await createProcessBeacon()
  await using job = await startJob()
  const { client } = job.running
  const task = await job.task()
  await job.claim(task, await job.agent(beacon.hold('agent', 'sleep 1000')))
  await beacon.alive('agent')
  const other = await job.agent('echo hi', 'Other')
  const given = await client.call('tasks.assign_role', { task_id: task.id, role: 'coder', agent_id: other.id })
  await beacon.gone('agent')
  expect(given.task).toMatchObject({ status: 'todo', roles: { coder: { id: other.id } } })
  expect((await job.executions(task.id)).map((one) => one.status)).toEqual(['cancelled'])
  const unknown = client.call('tasks.assign_role', { task_id: task.id, role: 'cook', agent_id: other.id })
  expect(await refusalOf(unknown)).toBe('unknown_role')
})

test.concurrent('refuses a move by version, graph and gate, in this order', async () => {
  await using job = await startJob()
  const { client } = job.running
  const task = await job.task()
  const move = (status: string, version: number) =>
    client.call('tasks.transition', { task_id: task.id, status, version })
  const stale = await refused(move('nowhere', 99))
  expect(stale).toMatchObject({ code: 'version_conflict', status: 409, details: { version: 1 } })
  const wrong = await refused(move('review', 1))
  expect(wrong).toMatchObject({ code: 'invalid_transition', details: { allowed: ['todo', 'cancelled'] } })
  expect(wrong.message).toBe("Tasks can't move from Backlog to Review, only to To do, Cancelled.")
  const queued = await move('todo', 1)
  expect(queued.task).toMatchObject({ status: 'todo', version: 2 })
  expect(await refusalOf(move('in_progress', 2))).toBe('invalid_transition')
  // Without a planner, a person may plan by hand.
  await move('planning', 2)
  const planning = await job.running.taskWhere(task.id, (one) => !one.entry_barrier)
  const approved = await client.call('tasks.verdict', {
    task_id: task.id,
    verdict: 'pass',
    version: planning.version,
  })
  expect(approved.task.status).toBe('in_progress')
  const entered = await job.running.taskWhere(task.id, (one) => !one.entry_barrier)
  expect(await refusalOf(client.call('tasks.verdict', { task_id: task.id, verdict: 'pass' }))).toBe('not_at_gate')
  const steps = { task_id: task.id, review_config: { ci_steps: [] } }
  expect((await client.call('tasks.update', { ...steps, version: entered.version })).version).toBe(entered.version + 1)
  expect(await refusalOf(client.call('tasks.update', { ...steps, version: entered.version }))).toBe('version_conflict')
})

test.concurrent('passes the review on entry if there is nothing to check', async () => {
  await using job = await startJob()
  const { client } = job.running
  const task = await job.task()
  await client.call('tasks.claim', { task_id: task.id })
  const entered = await job.running.taskWhere(task.id, (one) => one.status === 'in_progress' && !one.entry_barrier)
  const moved = await client.call('tasks.transition', { task_id: task.id, status: 'review', version: entered.version })
  expect(moved).toMatchObject({ task: { status: 'review' }, review: { status: 'passed', attempt_number: 1 } })
  expect(moved.task.review_passed_at).not.toBeNull()
})

test.concurrent('answers the entry into review at once and runs CI', async () => {
  await using beacon = await createProcessBeacon()
  await using job = await startJob()
  const { client } = job.running
  const task = await job.task({ review_config: { ci_steps: [beacon.hold('ci', wait), 'exit 3', 'never'] } })
  await client.call('tasks.claim', { task_id: task.id })
  const entered = await job.running.taskWhere(task.id, (one) => one.status === 'in_progress' && !one.entry_barrier)
  const moved = await client.call('tasks.transition', { task_id: task.id, status: 'review', version: entered.version })
  expect(moved).toMatchObject({ task: { status: 'review' }, review: { status: 'running', finished_at: null } })
  await beacon.alive('ci')
  await beacon.release('ci')
  await job.running.taskWhere(task.id, (one) => one.review_summary?.status === 'failed')
  // The first failing step is the last to run.
  const { items } = await client.call('tasks.reviews', { task_id: task.id })
  expect(items[0]?.step_results.map(({ exit_code }) => exit_code)).toEqual([0, 3])
})

test.concurrent('ends a hanging CI command with 124, and cuts a flood', async () => {
  await using beacon = await createProcessBeacon()
  await using job = await startJob({
    workflow: (standard) => ({
      ...standard,
      states: standard.states.map((state) =>
        state.name === 'review'
          ? { ...state, gate_config: { max_rejections: 0, reject_target: 'in_progress' } }
          : state,
      ),
    }),
  })
  const { client } = job.running
  await job.settings({ ci_step_timeout_seconds: 1 })
  const agent = await job.agent('echo x >> work.txt; echo done')
  const hanging = await job.task({ review_config: { ci_steps: [beacon.hold('ci', 'echo waiting; sleep 1000')] } })
  await job.claim(hanging, agent)
  await beacon.gone('ci')
  const late = await job.running.taskWhere(hanging.id, (one) => one.status === 'blocked')
  expect(late.error_annotation?.reason).toContain('timed out after 1 s')
  const { items } = await client.call('tasks.reviews', { task_id: hanging.id })
  expect(items[0]?.step_results[0]).toMatchObject({ exit_code: 124 })
  await job.settings({ ci_step_timeout_seconds: 60 })
  const flooding = await job.task({
    review_config: { ci_steps: ['yes "0123456789 äöü" | head -n 200000; echo the end'] },
  })
  await job.claim(flooding, agent)
  await job.running.taskWhere(flooding.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  const { items: reviews } = await client.call('tasks.reviews', { task_id: flooding.id })
  const tail = reviews[0]?.step_results[0]?.output_tail ?? ''
  expect(Buffer.byteLength(tail)).toBeLessThanOrEqual(10 * 1024)
  expect(tail).toMatch(/the end\n$/)
  expect(tail).not.toContain('\uFFFD')
})

test.concurrent('cancels a task in any state before its end', async () => {
  await using job = await startJob({
    // A merge that never ends by itself.
    workflow: (standard) => ({
      ...standard,
      states: standard.states.map((state) => (state.name === 'merging' ? { ...state, hooks: {} } : state)),
    }),
  })
  const { client } = job.running
  const ways = ['', 'todo', 'todo planning', 'claim', 'claim blocked', 'claim review', 'claim review merging']
  const from = await Promise.all(
    ways.map(async (way) => {
      const { id: task_id } = await job.task()
      for (const status of way.split(' ').filter((one) => one !== '')) {
        if (status === 'claim') await client.call('tasks.claim', { task_id })
        else {
          const { version } = await job.running.taskWhere(task_id, (one) => !one.entry_barrier)
          await client.call('tasks.transition', { task_id, status, version })
        }
      }
      const { status } = await client.call('tasks.get', { task_id })
      expect((await client.call('tasks.cancel', { task_id })).task.status, status).toBe('cancelled')
      return status
    }),
  )
  expect(from).toEqual(['backlog', 'todo', 'planning', 'in_progress', 'blocked', 'review', 'merging'])
})

test.concurrent('answers audience_mismatch to a person for a transition of agents only', async () => {
  await using job = await startJob({
    workflow: (standard) => ({
      ...standard,
      states: standard.states.map((state) =>
        state.name === 'backlog'
          ? { ...state, transitions: state.transitions.map((one) => ({ ...one, audience: 'agent_only' })) }
          : state,
      ),
    }),
  })
  const task = await job.task()
  const move = job.running.client.call('tasks.transition', { task_id: task.id, status: 'todo', version: 1 })
  expect(await refused(move)).toMatchObject({ code: 'audience_mismatch', status: 403 })
})
