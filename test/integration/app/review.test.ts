import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { refusalOf } from '../../helpers/refusal.ts'
import { budget, startJob } from '../../helpers/job.ts'
import { createProcessBeacon, wait } from '../../helpers/process-beacon.ts'

/** A command that judges its task over REST with its run's token. */
function judging(verdict: 'pass' | 'fail', feedback: string): string {
  const body = JSON.stringify(JSON.stringify({ verdict, feedback }))
  const judge = `
    const { SVC_API_URL, SVC_API_TOKEN, SVC_TASK_ID } = process.env;
    const headers = { authorization: "Bearer " + SVC_API_TOKEN, "content-type": "application/json" };
    fetch(SVC_API_URL + "/api/v1/tasks/" + SVC_TASK_ID + "/verdict", { method: "POST", headers, body: ${body} })
      .then((response) => { if (!response.ok) throw new Error(String(response.status)) })`
  return `'${process.execPath}' -e '${judge}' && echo judged`
}

test.concurrent('sends the task back with the output of failing CI in the next prompt, then passes', async () => {
  await using job = await startJob()
  const agent = await job.agent(
    'cat > "prompt-$(ls prompt-* 2>/dev/null | wc -l | tr -d " ").txt"; echo working; test -f prompt-1.txt && echo right > answer.txt || echo wrong > answer.txt',
  )
  const task = await job.task({ review_config: { ci_steps: ['true', 'cat answer.txt; grep -q right answer.txt'] } })
  const { path } = await job.claim(task, agent)
  const passed = await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  expect(passed).toMatchObject({
    status: 'review',
    review_summary: { attempt_number: 2, steps: ['passed', 'passed'] },
  })
  expect(await job.history(task.id)).toEqual([
    'backlog > in_progress by agent',
    'in_progress > review by system',
    'review > in_progress by system',
    'in_progress > review by system',
  ])
  const back = (await job.transitions(task.id))[2]
  expect(back).toMatchObject({ rejection: true })
  expect(back?.trigger_reason).toContain('failed with exit code 1')
  const { items: reviews } = await job.running.client.call('tasks.reviews', { task_id: task.id })
  expect(
    reviews.map((one) => [one.attempt_number, one.status, one.step_results.map((step) => step.exit_code)]),
  ).toEqual([
    [2, 'passed', [0, 0]],
    [1, 'failed', [0, 1]],
  ])
  const { items: told } = await job.running.client.call('notifications.list', {})
  expect(told.map((one) => one.event_type)).toEqual(['review.passed', 'review.failed'])
  const executions = await job.executions(task.id)
  expect(executions.map((one) => one.status)).toEqual(['succeeded', 'succeeded'])
  expect(executions[0]?.prompt).toContain('wrong')
  expect(executions[0]?.prompt).toContain('## Feedback from the last review')
  expect(await readFile(`${path}/prompt-1.txt`, 'utf8')).toBe(executions[0]?.prompt)
})

test.concurrent('hands the task to a person at the rejection after three', async () => {
  await using job = await startJob()
  const agent = await job.agent('echo again >> work.txt; echo worked')
  const task = await job.task({ review_config: { ci_steps: ['echo never; exit 3'] } })
  await job.claim(task, agent)
  const blocked = await job.running.taskWhere(task.id, (one) => one.status === 'blocked' && !one.entry_barrier)
  expect(blocked.error_annotation).toMatchObject({ type: 'retry_budget_exhausted', recovery_actions: [] })
  expect(blocked.error_annotation?.reason).toContain('never')
  expect(blocked).toMatchObject({
    active_execution_id: null,
    review_summary: { attempt_number: 4, status: 'failed', rejections: { review: 3 } },
  })
  const entries = await job.transitions(task.id)
  expect(entries.filter((one) => one.rejection)).toHaveLength(3)
  expect(entries.at(-1)).toMatchObject({ from_state: 'review', to_state: 'blocked', rejection: false })
  expect(await job.executions(task.id)).toHaveLength(4)
})

test.concurrent('does not use the budget for a person’s rejection', async () => {
  await using job = await startJob({ workflow: budget(1) })
  const agent = await job.agent('date +%N >> work.txt; echo worked')
  const task = await job.task()
  await job.claim(task, agent)
  for (let round = 1; round <= 3; round += 1) {
    const ready = await job.running.taskWhere(
      task.id,
      (one) => one.status === 'review' && one.review_summary?.attempt_number === round && !one.entry_barrier,
    )
    expect(ready.review_summary?.status).toBe('passed')
    const judged = await job.running.client.call('tasks.verdict', {
      task_id: task.id,
      verdict: 'fail',
      feedback: `Round ${round}`,
    })
    expect(judged.task.status).toBe('in_progress')
    expect(judged.task.review_summary).not.toHaveProperty('rejections')
  }
  const entries = await job.transitions(task.id)
  expect(entries.filter((one) => one.rejection).map((one) => one.trigger_reason)).toEqual([
    'Round 1',
    'Round 2',
    'Round 3',
  ])
})

test.concurrent('gives the agents a new budget after a person looked at the task', async () => {
  await using job = await startJob({ workflow: budget(1) })
  const agent = await job.agent('date +%N >> work.txt; echo worked')
  const task = await job.task({ review_config: { ci_steps: ['exit 1'] } })
  await job.claim(task, agent)
  await job.running.taskWhere(task.id, (one) => one.status === 'blocked')
  const { version } = await job.running.client.call('tasks.get', { task_id: task.id })
  await job.running.client.call('tasks.transition', { task_id: task.id, status: 'in_progress', version })
  await job.running.taskWhere(task.id, (one) => one.status === 'blocked' && one.version > version + 1)
  expect((await job.transitions(task.id)).filter((one) => one.rejection)).toHaveLength(2)
})

test.concurrent('lets a reviewer judge over REST with its run’s token, which ends afterwards', async () => {
  await using job = await startJob()
  const coder = await job.agent('echo done > work.txt; echo done')
  const reviewer = await job.agent(
    `${judging('pass', 'Well done')}; printf %s "$SVC_API_TOKEN" > token.txt`,
    'Reviewer',
  )
  const task = await job.task({ review_config: { ci_steps: ['test -f work.txt'], review_prompt: 'Look well.' } })
  await job.running.client.call('tasks.assign_role', { task_id: task.id, role: 'reviewer', agent_id: reviewer.id })
  const { path } = await job.claim(task, coder)
  const passed = await job.running.taskWhere(
    task.id,
    (one) => one.review_passed_at !== null && one.active_execution_id === null,
  )
  expect(passed).toMatchObject({ status: 'review', error_annotation: null, review_summary: { status: 'passed' } })
  const { items: reviews } = await job.running.client.call('tasks.reviews', { task_id: task.id })
  expect(reviews[0]?.verdicts).toMatchObject([{ by: `agent:${reviewer.id}`, verdict: 'pass', feedback: 'Well done' }])
  const { items: told } = await job.running.client.call('notifications.list', {})
  expect(told.map((one) => one.event_type)).toEqual(['review.passed'])
  const [judge] = await job.executions(task.id)
  expect(judge).toMatchObject({ role: 'reviewer', agent_id: reviewer.id, status: 'succeeded' })
  expect(judge?.prompt).toContain('Look well.')
  const dead = job.running.clientWith(await readFile(`${path}/token.txt`, 'utf8'))
  expect(await refusalOf(dead.call('tasks.get', { task_id: task.id }))).toBe('invalid_token')
})

test.concurrent('sends the task back with a reviewer’s feedback, and leaves a silent one to a person', async () => {
  await using beacon = await createProcessBeacon()
  await using job = await startJob()
  const coder = await job.agent('date +%N >> work.txt; echo done')
  const reviewer = await job.agent(beacon.hold('reviewer', `${wait}; echo hm`), 'Reviewer')
  const task = await job.task()
  await job.running.client.call('tasks.assign_role', { task_id: task.id, role: 'reviewer', agent_id: reviewer.id })
  await job.claim(task, coder)
  await beacon.alive('reviewer')
  const { version } = await job.running.client.call('tasks.get', { task_id: task.id })
  const merging = job.running.client.call('tasks.transition', { task_id: task.id, status: 'merging', version })
  expect(await refusalOf(merging)).toBe('review_not_ready')
  expect(
    await refusalOf(job.running.client.call('tasks.verdict', { task_id: task.id, verdict: 'pass', version: 1 })),
  ).toBe('version_conflict')
  // A person rejects while the reviewer still thinks: it ends, and the coder gets the feedback.
  await job.running.client.call('tasks.verdict', { task_id: task.id, verdict: 'fail', feedback: 'Too short' })
  await beacon.gone('reviewer')
  await beacon.alive('reviewer', 2)
  const executions = await job.running.eventually(
    () => job.executions(task.id),
    ([latest]) => latest?.status === 'running',
  )
  expect(executions.map((one) => [one.role, one.status])).toEqual([
    ['reviewer', 'running'],
    ['coder', 'succeeded'],
    ['reviewer', 'cancelled'],
    ['coder', 'succeeded'],
  ])
  expect(executions[1]?.prompt).toContain('Too short')
  await beacon.release('reviewer', 2)
  const silent = await job.running.taskWhere(task.id, (one) => one.error_annotation !== null)
  expect(silent).toMatchObject({ status: 'review', error_annotation: { type: 'execution_incomplete' } })
})

test.concurrent('lets a planner work first, and only a person approve the plan', async () => {
  await using job = await startJob()
  const planner = await job.agent(judging('pass', 'Two steps'), 'Planner')
  const coder = await job.agent('echo done > work.txt; echo done')
  const task = await job.task()
  await job.running.client.call('tasks.assign_role', { task_id: task.id, role: 'planner', agent_id: planner.id })
  const claimed = await job.claim(task, coder)
  expect(claimed.task).toMatchObject({
    status: 'planning',
    roles: { coder: { id: coder.id }, planner: { id: planner.id } },
  })
  expect(claimed.execution).toMatchObject({ role: 'planner', agent_id: planner.id })
  const planned = await job.running.taskWhere(
    task.id,
    (one) => one.active_execution_id === null && one.status === 'planning',
  )
  expect(planned.error_annotation).toBeNull()
  expect((await job.transitions(task.id))[0]?.hooks).toContainEqual(
    expect.objectContaining({ action: 'verdict', reason: `agent:${planner.id}: pass. Two steps` }),
  )
  const approved = await job.running.client.call('tasks.verdict', { task_id: task.id, verdict: 'pass' })
  expect(approved.task.status).toBe('in_progress')
  await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  expect(await job.history(task.id)).toEqual([
    'backlog > planning by agent',
    'planning > in_progress by user',
    'in_progress > review by system',
  ])
})
