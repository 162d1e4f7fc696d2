import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import type { WorkflowDefinition, WorkflowState } from '../../../src-shared/contract/workflow-definition.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { createProcessBeacon } from '../../helpers/process-beacon.ts'
import { refusalOf, refused } from '../../helpers/refusal.ts'
import { present } from '../../helpers/present.ts'

const unknown = '01990000-0000-7000-8000-00000000ffff'

/** Saves every prompt as `prompt-<n>.txt`, works, then does what `end` says. */
const keepingPrompts = (end: string) =>
  `n=$(ls prompt-* 2>/dev/null | wc -l | tr -d " "); cat > "prompt-$n.txt"; echo "run $n" > work.txt; echo done; ${end}`

const comment = (job: Job, task_id: string, body: string, more: { line?: number; parent_id?: string } = {}) =>
  job.running.client.call('comments.create', {
    task_id,
    body,
    ...(more.line !== undefined && { anchor: { path: 'src/add.ts', side: 'new' as const, line: more.line } }),
    ...(more.parent_id !== undefined && { parent_id: more.parent_id }),
  })
const unsent = async (job: Job, task_id: string) =>
  (await job.running.client.call('comments.list', { task_id })).items
    .filter((one) => one.state === 'draft')
    .map((one) => one.body)
const inReview = (job: Job, task_id: string) =>
  job.running.taskWhere(task_id, (one) => one.review_passed_at !== null && !one.entry_barrier)

const withState = (name: string, more: Partial<WorkflowState>) => (standard: WorkflowDefinition) => ({
  ...standard,
  states: standard.states.map((state) => (state.name === name ? { ...state, ...more } : state)),
})

test.concurrent('starts the coder again in the same state with all unsent feedback', async () => {
  await using job = await startJob()
  const { client } = job.running
  const agent = await job.agent(keepingPrompts('test "$n" = 1'))
  const task = await job.task({ title: 'Add numbers', description: 'Write a function that adds.' })
  const { path } = await job.claim(task, agent)
  await job.running.taskWhere(task.id, (one) => one.error_annotation?.type === 'execution_failed')
  const settled = await comment(job, task.id, 'Long settled')
  await client.call('comments.update', { comment_id: settled.id, resolved: true })
  const root = await comment(job, task.id, 'Wrong sign.', { line: 7 })
  await comment(job, task.id, 'Add a test.')
  await comment(job, task.id, 'Here only?\nOr below too?', { parent_id: root.id })
  const answer = await client.call('tasks.feedback', { task_id: task.id, message: 'Nearly there.' })
  expect(answer.task).toMatchObject({
    status: 'in_progress',
    error_annotation: null,
    active_execution_id: answer.execution.id,
  })
  expect(answer.execution).toMatchObject({ role: 'coder', agent_id: agent.id, task_id: task.id })
  const words = [
    'Nearly there.',
    '',
    '`src/add.ts:7`',
    'Wrong sign.',
    '',
    '> Owner answered: Here only?',
    '> Or below too?',
    '',
    'Add a test.',
  ].join('\n')
  expect(answer.execution.prompt).toContain('# Add numbers\n\nWrite a function that adds.')
  expect(answer.execution.prompt.endsWith(words)).toBe(true)
  expect(await unsent(job, task.id)).toEqual([])
  await inReview(job, task.id)
  expect(await readFile(`${path}/prompt-1.txt`, 'utf8')).toBe(answer.execution.prompt)
  expect(await job.history(task.id)).toEqual(['backlog > in_progress by agent', 'in_progress > review by system'])
})

test.concurrent('repeats a failed follow-up with the same text', async () => {
  await using job = await startJob()
  const { client } = job.running
  const task = await job.task()
  const { path } = await job.claim(task, await job.agent(keepingPrompts('test "$n" = 2')))
  const failed = (n: number) =>
    job.running.eventually(
      () => job.executions(task.id),
      (all) => all.filter((one) => one.status === 'failed').length === n,
    )
  await failed(1)
  const { execution } = await client.call('tasks.feedback', { task_id: task.id, message: 'Handle zero.' })
  await failed(2)
  await client.call('tasks.recover', { task_id: task.id, action: 'retry_execution' })
  await inReview(job, task.id)
  expect(await readFile(`${path}/prompt-2.txt`, 'utf8')).toBe(execution.prompt)
})

test.concurrent('sends the task back from the review gate, and the coder reads why', async () => {
  await using job = await startJob()
  const { client } = job.running
  const agent = await job.agent(keepingPrompts('true'))
  const task = await job.task()
  const { path } = await job.claim(task, agent)
  await inReview(job, task.id)
  const kept = await comment(job, task.id, 'For later')
  const named = await comment(job, task.id, 'Rename it.', { line: 3 })
  const answer = await client.call('tasks.feedback', { task_id: task.id, comment_ids: [named.id] })
  expect(answer.task).toMatchObject({ status: 'in_progress', review_passed_at: null })
  expect(answer.task.active_execution_id).toBe(answer.execution.id)
  expect(await unsent(job, task.id)).toEqual([kept.body])
  await inReview(job, task.id)
  const executions = await job.executions(task.id)
  expect(executions.map((one) => [one.role, one.status])).toEqual([
    ['coder', 'succeeded'],
    ['coder', 'succeeded'],
  ])
  expect(executions[0]?.id).toBe(answer.execution.id)
  expect(await readFile(`${path}/prompt-1.txt`, 'utf8')).toContain(
    '## Feedback from the last review\n\n`src/add.ts:3`\nRename it.',
  )
  expect(await job.history(task.id)).toEqual([
    'backlog > in_progress by agent',
    'in_progress > review by system',
    'review > in_progress by user',
    'in_progress > review by system',
  ])
  expect((await job.transitions(task.id))[2]).toMatchObject({
    rejection: true,
    triggered_by: 'user:owner',
    trigger_reason: '`src/add.ts:3`\nRename it.',
  })
  const { items } = await client.call('tasks.reviews', { task_id: task.id })
  expect(items.map((one) => [one.attempt_number, one.status])).toEqual([
    [2, 'passed'],
    [1, 'failed'],
  ])
  expect(items[1]?.verdicts).toMatchObject([{ by: 'user:owner', verdict: 'fail' }])
})

test.concurrent('sends the task from beyond the gate to its reject target', async () => {
  await using job = await startJob({ workflow: withState('merging', { hooks: {} }) })
  const { client } = job.running
  const task = await job.task()
  await job.claim(task, await job.agent(keepingPrompts('true')))
  const { version } = await inReview(job, task.id)
  await client.call('tasks.transition', { task_id: task.id, status: 'merging', version })
  const answer = await client.call('tasks.feedback', { task_id: task.id, message: 'Not yet: handle zero.' })
  expect(answer.task.status).toBe('in_progress')
  await inReview(job, task.id)
  expect((await job.history(task.id)).slice(2)).toEqual([
    'review > merging by user',
    'merging > in_progress by user',
    'in_progress > review by system',
  ])
  expect((await job.transitions(task.id))[3]).toMatchObject({
    rejection: true,
    trigger_reason: 'Not yet: handle zero.',
  })
  expect((await job.executions(task.id))[0]?.prompt).toContain('Not yet: handle zero.')
})

test.concurrent('assigns the follow-up to a person who has the coder’s role', async () => {
  await using job = await startJob()
  const { client } = job.running
  const task = await job.task()
  const { execution } = await client.call('tasks.claim', { task_id: task.id })
  const running = (id: string) =>
    job.running.eventually(
      () => client.call('executions.get', { execution_id: id }),
      (one) => one.status === 'running',
    )
  await running(present(execution).id)
  await client.call('executions.finish', { execution_id: present(execution).id, status: 'succeeded' })
  await inReview(job, task.id)
  const answer = await client.call('tasks.feedback', { task_id: task.id, message: 'Once more.' })
  expect(answer.execution).toMatchObject({ executor: 'person', agent_id: null })
  expect((await running(answer.execution.id)).prompt).toContain('Once more.')
})

test.concurrent('sends nothing to an agent that can’t start, and keeps the drafts', async () => {
  await using beacon = await createProcessBeacon()
  await using job = await startJob()
  const { client } = job.running
  const agent = await job.agent(beacon.hold('agent', 'sleep 1000'))
  const task = await job.task()
  const send = (message?: string) =>
    client.call('tasks.feedback', { task_id: task.id, ...(message !== undefined && { message }) })
  expect(await refusalOf(send('Start'))).toBe('not_claimable')
  const { execution } = await job.claim(task, agent)
  await beacon.alive('agent')
  await comment(job, task.id, 'Later')
  await client.call('executions.stop', { execution_id: execution.id })
  await client.call('agents.update', { agent_id: agent.id, paused: true })
  expect(await refusalOf(send())).toBe('agent_paused')
  await client.call('agents.update', { agent_id: agent.id, paused: false })
  const pause = (paused_at: string | null) => client.call('projects.update', { project_id: job.project.id, paused_at })
  await pause(new Date().toISOString())
  expect(await refusalOf(send())).toBe('project_paused')
  await pause(null)
  await client.call('tasks.archive', { task_id: task.id })
  expect(await refusalOf(send())).toBe('not_claimable')
  await client.call('tasks.unarchive', { task_id: task.id })
  expect(await unsent(job, task.id)).toEqual(['Later'])
  expect(await job.executions(task.id)).toHaveLength(1)
  await client.call('tasks.cancel', { task_id: task.id })
  expect(await refusalOf(send())).toBe('task_terminal')
})

test.concurrent('needs an open comment of the task or a message', async () => {
  await using job = await startJob()
  const { client } = job.running
  const [task, other] = [await job.task(), await job.task()]
  await job.claim(task, await job.agent(keepingPrompts('false')))
  await job.running.taskWhere(task.id, (one) => one.error_annotation !== null)
  const send = (more: { comment_ids?: string[]; message?: string }) =>
    refused(client.call('tasks.feedback', { task_id: task.id, ...more }))
  const far = await comment(job, other.id, 'Far')
  expect((await send({})).code).toBe('validation_failed')
  expect((await send({ comment_ids: [] })).code).toBe('validation_failed')
  expect((await send({ message: '  ' })).code).toBe('validation_failed')
  for (const id of [unknown, far.id]) {
    expect((await send({ comment_ids: [id], message: 'x' })).details).toEqual({ resource: 'comment', id })
  }
  for (let n = 0; n < 5; n += 1) await comment(job, task.id, 'x'.repeat(100_000))
  expect((await send({})).code).toBe('validation_failed')
  expect(await job.executions(task.id)).toHaveLength(1)
})

test.concurrent('keeps a secret in the message out of the prompt and the audit', async () => {
  await using job = await startJob()
  const { client } = job.running
  await job.settings({ redaction_patterns: ['shibboleth-[0-9]+'] })
  const task = await job.task()
  await job.claim(task, await job.agent(keepingPrompts('true')))
  await inReview(job, task.id)
  const message = 'Log in with shibboleth-42'
  const { execution } = await client.call('tasks.feedback', { task_id: task.id, message })
  expect(execution.prompt).toContain('Log in with [redacted]')
  expect((await job.transitions(task.id))[2]?.trigger_reason).toBe('Log in with [redacted]')
})

test.concurrent('stops feedback if a before_exit hook of the gate refuses', async () => {
  const hooks = { before_exit: [{ script: 'echo frozen >&2; exit 1' }] }
  await using job = await startJob({ workflow: withState('review', { hooks }) })
  const { client } = job.running
  const task = await job.task()
  await job.claim(task, await job.agent(keepingPrompts('true')))
  await job.running.taskWhere(task.id, (one) => one.status === 'review' && !one.entry_barrier)
  await comment(job, task.id, 'Rename it.')
  const refusal = await refused(client.call('tasks.feedback', { task_id: task.id }))
  expect([refusal.code, refusal.status]).toEqual(['transition_blocked', 412])
  expect(await unsent(job, task.id)).toEqual(['Rename it.'])
  expect((await client.call('tasks.get', { task_id: task.id })).status).toBe('review')
  expect(await job.executions(task.id)).toHaveLength(1)
})
