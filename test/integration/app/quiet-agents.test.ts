import { expect, test } from 'vitest'
import type { WorkflowDefinition } from '../../../src-shared/contract/workflow-definition.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { quietly } from '../../helpers/quiet-command.ts'

const works = 'echo line >> work.txt; git add -A; git commit -qm Work; echo worked'
const give = (job: Job, task_id: string, role: string, agent_id: string) =>
  job.running.client.call('tasks.assign_role', { task_id, role, agent_id })
/** The newest execution of a role, once it has ended. */
const ended = async (job: Job, task_id: string, role: string, count = 1) => {
  const ofRole = async () => (await job.executions(task_id)).filter((one) => one.role === role)
  const all = await job.running.eventually(
    ofRole,
    (found) => found.length === count && found.every((one) => one.finished_at !== null),
  )
  return all[0]
}
const annotationOf = async (job: Job, task_id: string) =>
  (await job.running.client.call('tasks.get', { task_id })).error_annotation

const approved = (standard: WorkflowDefinition) => ({
  ...standard,
  states: standard.states.map((state) =>
    state.name === 'review'
      ? { ...state, gate_config: { ...state.gate_config, requires_human_approval: true } }
      : state,
  ),
})

test.concurrent('counts a silent reviewer that passed the work over the API as succeeded', async () => {
  await using job = await startJob()
  const task = await job.task()
  const reviewer = await job.agent(quietly('verdict', { verdict: 'pass' }), 'Reviewer')
  await give(job, task.id, 'reviewer', reviewer.id)
  await job.claim(task, await job.agent(works))
  expect(await ended(job, task.id, 'reviewer')).toMatchObject({ status: 'succeeded', exit_code: 0, error: null })
  expect(await job.running.client.call('tasks.get', { task_id: task.id })).toMatchObject({
    status: 'review',
    error_annotation: null,
    review_summary: { status: 'passed' },
  })
})

test.concurrent('counts a verdict for the run that gave it, not for the next silent one', async () => {
  await using job = await startJob()
  const task = await job.task()
  const no = quietly('verdict', { verdict: 'fail', feedback: 'Once more' })
  const reviewer = await job.agent(`test "$(wc -l < work.txt)" -gt 1 || ${no}`, 'Reviewer')
  await give(job, task.id, 'reviewer', reviewer.id)
  await job.claim(task, await job.agent(works))
  expect(await ended(job, task.id, 'reviewer', 2)).toMatchObject({ status: 'stopped' })
  expect(await annotationOf(job, task.id)).toMatchObject({ type: 'execution_incomplete', reason: 'nothing_done' })
  const reviews = (await job.executions(task.id)).filter((one) => one.role === 'reviewer')
  expect(reviews.map((one) => one.status)).toEqual(['stopped', 'succeeded'])
})

test.concurrent('counts a silent planner that passed its plan as succeeded, and waits for a person', async () => {
  await using job = await startJob()
  const task = await job.task()
  const planner = await job.agent(quietly('verdict', { verdict: 'pass' }), 'Planner')
  await give(job, task.id, 'planner', planner.id)
  await job.claim(task, await job.agent(works))
  expect(await ended(job, task.id, 'planner')).toMatchObject({ status: 'succeeded' })
  expect(await job.running.client.call('tasks.get', { task_id: task.id })).toMatchObject({
    status: 'planning',
    error_annotation: null,
  })
})

test.concurrent('does not miss a verdict of a reviewer who passed the work where a person must approve', async () => {
  await using job = await startJob({ workflow: approved })
  const pass = quietly('verdict', { verdict: 'pass' })
  const [silent, loud] = [await job.task(), await job.task()]
  const worker = await job.agent(works)
  await give(job, silent.id, 'reviewer', (await job.agent(pass, 'Silent')).id)
  await give(job, loud.id, 'reviewer', (await job.agent(`${pass}; echo judged`, 'Loud')).id)
  for (const task of [silent, loud]) {
    await job.claim(task, worker)
    expect(await ended(job, task.id, 'reviewer')).toMatchObject({ status: 'succeeded' })
    expect(await job.running.client.call('tasks.get', { task_id: task.id })).toMatchObject({
      status: 'review',
      error_annotation: null,
      review_passed_at: null,
      review_summary: { status: 'running' },
    })
  }
})

test.concurrent('counts a silent coder that moved its task as succeeded', async () => {
  await using job = await startJob()
  const task = await job.task()
  // The claim's move is version 2.
  const coder = await job.agent(quietly('transition', { status: 'review', version: task.version + 1 }))
  await job.claim(task, coder)
  expect(await ended(job, task.id, 'coder')).toMatchObject({ status: 'succeeded', error: null })
  expect(await job.history(task.id)).toEqual(['backlog > in_progress by agent', 'in_progress > review by agent'])
  expect(await annotationOf(job, task.id)).toBeNull()
})

test.concurrent('counts a comment as output of the run', async () => {
  await using job = await startJob()
  const task = await job.task()
  await job.claim(task, await job.agent(quietly('comments', { body: 'There is nothing to change.' })))
  expect(await ended(job, task.id, 'coder')).toMatchObject({ status: 'succeeded' })
  expect(await job.history(task.id)).toEqual(['backlog > in_progress by agent', 'in_progress > review by system'])
})

test.concurrent('does not count another’s comment as output of the agent', async () => {
  await using job = await startJob()
  const task = await job.task()
  await job.running.client.call('comments.create', { task_id: task.id, body: 'Please begin.' })
  await job.claim(task, await job.agent('true'))
  expect(await ended(job, task.id, 'coder')).toMatchObject({ status: 'stopped' })
  expect(await annotationOf(job, task.id)).toMatchObject({ reason: 'nothing_done' })
})
