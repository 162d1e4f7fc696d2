import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { StateHook } from '../../../src-shared/contract/workflow-definition.ts'
import { startJob } from '../../helpers/job.ts'
import { refused } from '../../helpers/refusal.ts'
import { lastHook } from '../../helpers/timeline.ts'
import { withHooks } from '../../helpers/small-workflow.ts'

test.concurrent('answers a move after the barrier if its entry has nothing to run', async () => {
  await using job = await startJob()
  const { client } = job.running
  const task = await job.task()
  await client.call('tasks.claim', { task_id: task.id })
  let { version } = await job.running.taskWhere(task.id, (one) => one.status === 'in_progress' && !one.entry_barrier)
  for (const status of ['review', 'in_progress', 'review', 'in_progress', 'review']) {
    const moved = await client.call('tasks.transition', { task_id: task.id, status, version })
    expect(moved.task).toMatchObject({ status, entry_barrier: false })
    version = moved.task.version
  }
})

test.concurrent('answers an agent that moves its own task at once, while the barrier waits for its end', async ({
  expect,
}) => {
  await using job = await startJob()
  const { client, dataDir } = job.running
  const [log, go] = [join(dataDir, 'answer.json'), join(dataDir, 'go')]
  // The task has version 2 in progress, and version 3 when submitted.
  const submit = `curl -s -m 20 -X POST "$SVC_API_URL/api/v1/tasks/$SVC_TASK_ID/transition" -H "Authorization: Bearer $SVC_API_TOKEN" -H 'Content-Type: application/json' -d '{"status":"review","version":2}' > '${log}'`
  const agent = await job.agent(
    `echo work > work.txt; ${submit}; while [ ! -e '${go}' ]; do sleep 0.05; done; echo done`,
  )
  const task = await job.task({ review_config: { ci_steps: ['cat work.txt'] } })
  const { execution } = await job.claim(task, agent)
  await job.running.taskWhere(task.id, (one) => one.status === 'review')
  const refusal = await refused(client.call('tasks.transition', { task_id: task.id, status: 'merging', version: 3 }))
  expect(refusal).toMatchObject({
    code: 'entry_barrier',
    message: expect.stringContaining(`waits for the run that moved it here (${execution.id}) to end`) as string,
    details: { execution_id: execution.id },
  })
  const answer = async () => (await readFile(log, 'utf8')) || 'null'
  await expect
    .poll(async () => JSON.parse(await answer()) as unknown)
    .toMatchObject({
      task: { status: 'review', entry_barrier: true },
    })
  await writeFile(go, '')
  const passed = await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null)
  expect(passed).toMatchObject({ status: 'review', entry_barrier: false, error_annotation: null })
})

test.concurrent('counts one of four simultaneous verdicts and refuses the others', async () => {
  await using job = await startJob()
  const { client } = job.running
  const reviewer = await client.call('agents.create', { name: 'Elsewhere', executor: 'external' })
  const task = await job.task()
  await client.call('tasks.assign_role', { task_id: task.id, role: 'reviewer', agent_id: reviewer.id })
  await job.claim(task, await job.agent('echo worked > work.txt; echo done'))
  await job.running.taskWhere(task.id, (one) => one.status === 'review' && !one.entry_barrier)
  const clients = Array.from({ length: 4 }, () => job.running.clientWith(job.running.token))
  const answers = await Promise.all(
    clients.map((one, index) =>
      one
        .call('tasks.verdict', { task_id: task.id, verdict: index % 2 === 0 ? 'pass' : 'fail', feedback: `${index}` })
        .then(
          () => 'ok',
          (error: unknown) => (error as { code: string }).code,
        ),
    ),
  )
  expect(answers.filter((answer) => answer === 'ok')).toHaveLength(1)
  // The answer to the others depends on how far the first has come.
  const later = ['version_conflict', 'not_at_gate', 'entry_barrier', 'review_not_ready']
  const refusals = answers.filter((answer) => answer !== 'ok')
  expect(refusals.filter((code) => !later.includes(code))).toEqual([])
  const { items } = await client.call('tasks.reviews', { task_id: task.id })
  expect(items.find(({ attempt_number }) => attempt_number === 1)?.verdicts).toHaveLength(1)
})

test.concurrent('tells an agent the state that its task came from', async () => {
  await using job = await startJob()
  const task = await job.task({ status: 'todo' })
  await job.claim(task, await job.agent('echo "$SVC_TASK_PREVIOUS_STATUS>$SVC_TASK_STATUS" > from.txt; echo done'))
  await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null)
  const { patch } = await job.running.client.call('tasks.diff', { task_id: task.id, scope: 'branch' })
  expect(patch).toContain('+todo>in_progress')
})

test.concurrent('continues with auto_cascade_on_review_pass without a target, also after a verdict', async () => {
  const auto: StateHook = { plugin: 'auto_cascade_on_review_pass' }
  await using job = await startJob({ workflow: withHooks({ review: { after_enter: [auto, lastHook] } }) })
  const { client } = job.running
  const checked = await job.task({ review_config: { ci_steps: ['true'] } })
  await job.claim(checked, await job.agent('echo a > a.txt; echo done'))
  await job.running.taskWhere(checked.id, (one) => one.status === 'done')
  const reviewer = await client.call('agents.create', { name: 'Elsewhere', executor: 'external' })
  const judged = await job.task()
  await client.call('tasks.assign_role', { task_id: judged.id, role: 'reviewer', agent_id: reviewer.id })
  await job.claim(judged, await job.agent('echo b > b.txt; echo done'))
  await job.running.taskWhere(judged.id, (one) => one.status === 'review' && !one.entry_barrier)
  await client.call('tasks.verdict', { task_id: judged.id, verdict: 'pass' })
  await job.running.taskWhere(judged.id, (one) => one.status === 'done')
})

test.concurrent('says in the resolved workflow when a cancelled task’s worktree is removed', async () => {
  await using job = await startJob({ config: { cleanupDelaySeconds: 123 } })
  const { states } = await job.running.client.call('projects.get_workflow', { project_id: job.project.id })
  expect(states.find(({ name }) => name === 'cancelled')?.cleanup).toEqual({ policy: 'delayed', seconds: 123 })
})
