import { describe, expect, test } from 'vitest'
import type { Agent } from '../../../src-shared/contract/projects.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { refused } from '../../helpers/refusal.ts'

async function jobWith(name: string) {
  const job = await startJob()
  await job.running.client.call('templates.apply', { name, project_id: job.project.id })
  const coder = await job.agent('echo work > work.txt', 'Coder')
  return Object.assign(job, { coder })
}
/** An agent that gives its verdict over the API and ends. */
const judge = (job: Job, verdict: 'pass' | 'fail', name: string): Promise<Agent> =>
  job.agent(
    `node -e '
      const [url, token, task] = [process.env.SVC_API_URL, process.env.SVC_API_TOKEN, process.env.SVC_TASK_ID]
      fetch(url + "/api/v1/tasks/" + task + "/verdict", {
        method: "POST",
        headers: { authorization: "Bearer " + token, "content-type": "application/json" },
        body: JSON.stringify({ verdict: "${verdict}" }),
      }).then((answer) => { console.log("judged"); process.exitCode = answer.ok ? 0 : 1 })
    '`,
    name,
  )
const assign = (job: Job, task: Task, role: string, agent: Agent) =>
  job.running.client.call('tasks.assign_role', { task_id: task.id, role, agent_id: agent.id })
const pass = (job: Job, task: Task) => job.running.client.call('tasks.verdict', { task_id: task.id, verdict: 'pass' })
const verdictsOf = async (job: Job, task: Task) =>
  (await job.running.client.call('tasks.reviews', { task_id: task.id })).items.flatMap((review) =>
    review.verdicts.map(({ by, verdict }) => `${verdict} by ${by.split(':')[0] ?? ''}`),
  )

describe('default', () => {
  test('holds a plan for a person although its agent passes it, and a passed review for a merge', async () => {
    await using job = await jobWith('default')
    const task = await job.task()
    await assign(job, task, 'planner', await judge(job, 'pass', 'Planner'))
    await job.claim(task, job.coder)
    await job.running.eventually(
      async () => (await job.executions(task.id)).map(({ role, status }) => `${role} ${status}`),
      (list) => list.includes('planner succeeded'),
    )
    expect((await job.running.client.call('tasks.get', { task_id: task.id })).status).toBe('planning')
    await pass(job, task)
    const reviewed = await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
    expect(reviewed.status).toBe('review')
    const merged = await job.running.client.call('tasks.transition', {
      task_id: task.id,
      status: 'merging',
      version: reviewed.version,
    })
    expect(merged.task.status).toBe('done')
    expect(await job.history(task.id)).toEqual([
      'backlog > planning by agent',
      'planning > in_progress by user',
      'in_progress > review by system',
      'review > merging by user',
      'merging > done by user',
    ])
  })

  test('skips the plan in a claim without a planner', async () => {
    await using job = await jobWith('default')
    const task = await job.task()
    await job.claim(task, job.coder)
    await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
    expect(await job.history(task.id)).toEqual(['backlog > in_progress by agent', 'in_progress > review by system'])
  })
})

describe('user-approval-review', () => {
  test('holds a review for a person although CI and the reviewer pass it', async () => {
    await using job = await jobWith('user-approval-review')
    const task = await job.task({ review_config: { ci_steps: ['test -f work.txt'] } })
    await assign(job, task, 'reviewer', await judge(job, 'pass', 'Reviewer'))
    await job.claim(task, job.coder)
    await job.running.eventually(
      () => verdictsOf(job, task),
      (list) => list.length === 1,
    )
    const waiting = await job.running.client.call('tasks.get', { task_id: task.id })
    expect([waiting.status, waiting.review_passed_at]).toEqual(['review', null])
    const move = { task_id: task.id, status: 'merging', version: waiting.version }
    expect((await refused(job.running.client.call('tasks.transition', move))).code).toBe('review_not_ready')
    await pass(job, task)
    const passed = await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
    expect([passed.status, await verdictsOf(job, task)]).toEqual(['review', ['pass by agent', 'pass by user']])
    const merged = await job.running.client.call('tasks.transition', { ...move, version: passed.version })
    expect(merged.task.status).toBe('done')
  })

  test('holds a review for a person even without anything to check', async () => {
    await using job = await jobWith('user-approval-review')
    const task = await job.task()
    await job.claim(task, job.coder)
    const waiting = await job.running.taskWhere(task.id, (one) => one.status === 'review' && !one.entry_barrier)
    expect(waiting.review_passed_at).toBeNull()
    await pass(job, task)
    await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  })
})

describe('no-user-approval', () => {
  test('takes a task from its claim to done automatically', async () => {
    await using job = await jobWith('no-user-approval')
    const task = await job.task({ review_config: { ci_steps: ['test -f work.txt'] } })
    await job.claim(task, job.coder)
    await job.running.taskWhere(task.id, (one) => one.status === 'done')
    expect((await job.history(task.id)).map((entry) => entry.split(' by ')[0])).toEqual([
      'backlog > in_progress',
      'in_progress > review',
      'review > merging',
      'merging > done',
    ])
  })

  test('follows the decisions of planner and reviewer', async () => {
    await using job = await jobWith('no-user-approval')
    const task = await job.task()
    await assign(job, task, 'planner', await judge(job, 'pass', 'Planner'))
    await assign(job, task, 'reviewer', await judge(job, 'pass', 'Reviewer'))
    await job.claim(task, job.coder)
    await job.running.taskWhere(task.id, (one) => one.status === 'done')
    expect((await job.history(task.id)).map((entry) => entry.split(' by ')[0])).toEqual([
      'backlog > planning',
      'planning > in_progress',
      'in_progress > review',
      'review > merging',
      'merging > done',
    ])
    expect(await verdictsOf(job, task)).toEqual(['pass by agent'])
  })

  test('returns what CI rejects to the coder', async () => {
    await using job = await jobWith('no-user-approval')
    const task = await job.task({ review_config: { ci_steps: ['test $(git rev-list --count HEAD) -gt 9'] } })
    await job.claim(task, job.coder)
    await job.running.eventually(
      () => job.history(task.id),
      (list) => list.includes('review > in_progress by system'),
    )
  })
})
