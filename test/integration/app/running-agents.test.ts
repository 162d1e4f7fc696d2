import { expect, test } from 'vitest'
import { startJob } from '../../helpers/job.ts'
import { createProcessBeacon, wait } from '../../helpers/process-beacon.ts'
import { refusalOf, refused } from '../../helpers/refusal.ts'

test.concurrent('ends a stopped agent with all its processes, and waits to be resumed', async () => {
  await using beacon = await createProcessBeacon()
  await using job = await startJob()
  const { client } = job.running
  const agent = await job.agent(beacon.hold('agent', `sleep 1000 & ${wait}; kill %1; echo done`))
  const task = await job.task()
  const { execution } = await job.claim(task, agent)
  await beacon.alive('agent')
  const stopped = await client.call('executions.stop', { execution_id: execution.id })
  await beacon.gone('agent')
  expect(stopped.execution.status).toBe('stopped')
  expect(stopped.task).toMatchObject({
    status: 'in_progress',
    active_execution_id: null,
    error_annotation: { type: 'execution_paused', recovery_actions: ['resume', 'retry_execution'] },
  })
  expect(await refusalOf(client.call('executions.stop', { execution_id: execution.id }))).toBe('execution_not_running')
  const wrong = await refused(client.call('tasks.recover', { task_id: task.id, action: 'retry_merge' }))
  expect(wrong).toMatchObject({ code: 'recovery_not_available' })
  const resumed = await client.call('tasks.recover', { task_id: task.id, action: 'resume' })
  expect(resumed.task.error_annotation).toBeNull()
  await beacon.alive('agent', 2)
  await beacon.release('agent', 2)
  await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  expect((await job.executions(task.id)).map((one) => one.status)).toEqual(['succeeded', 'stopped'])
})

test.concurrent('ends the agent of a cancelled task and keeps its worktree for a day', async () => {
  await using beacon = await createProcessBeacon()
  await using job = await startJob()
  const { client } = job.running
  const agent = await job.agent(beacon.hold('agent', 'echo half > half.txt; (sleep 1000; true) & sleep 1000'))
  const task = await job.task()
  const { execution } = await job.claim(task, agent)
  await beacon.alive('agent')
  const cancelled = await client.call('tasks.cancel', { task_id: task.id })
  await beacon.gone('agent')
  expect(cancelled.task).toMatchObject({ status: 'cancelled', active_execution_id: null })
  expect((await client.call('executions.get', { execution_id: execution.id })).status).toBe('cancelled')
  const workspace = await job.running.eventually(
    () => client.call('tasks.workspace', { task_id: task.id }),
    (one) => one.status === 'cleanup_scheduled',
  )
  expect(workspace.dirty).toBe(true)
  expect(await refusalOf(client.call('tasks.cancel', { task_id: task.id }))).toBe('task_terminal')
  expect(
    await refusalOf(
      client.call('tasks.transition', { task_id: task.id, status: 'todo', version: cancelled.task.version }),
    ),
  ).toBe('task_terminal')
})

test.concurrent('leaves the task of a failed agent in place, and runs it again on request', async () => {
  await using job = await startJob()
  const { client } = job.running
  const agent = await job.agent(
    'test -f tried.txt && { echo better; exit 0; }; touch tried.txt; echo no luck >&2; exit 1',
  )
  const task = await job.task()
  await job.claim(task, agent)
  const failed = await job.running.taskWhere(task.id, (one) => one.error_annotation !== null)
  expect(failed).toMatchObject({
    status: 'in_progress',
    active_execution_id: null,
    error_annotation: { type: 'execution_failed', exit_code: 1, recovery_actions: ['retry_execution'] },
  })
  expect(failed.error_annotation?.message).toContain('no luck')
  await client.call('tasks.recover', { task_id: task.id, action: 'retry_execution' })
  await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
})

test.concurrent('does not count an agent without output or work as done', async () => {
  await using job = await startJob()
  const task = await job.task()
  await job.claim(task, await job.agent('true'))
  const silent = await job.running.taskWhere(task.id, (one) => one.error_annotation !== null)
  expect(silent).toMatchObject({
    status: 'in_progress',
    error_annotation: {
      type: 'execution_incomplete',
      reason: 'nothing_done',
      recovery_actions: ['resume', 'retry_execution'],
    },
  })
  expect((await job.executions(task.id))[0]?.status).toBe('stopped')
})

test.concurrent('ends an agent at its time limit, and says so', async () => {
  await using beacon = await createProcessBeacon()
  await using job = await startJob()
  const agent = await job.agent(beacon.hold('agent', 'sleep 1000'))
  const task = await job.task()
  await job.running.client.call('tasks.claim', {
    task_id: task.id,
    agent_id: agent.id,
    overrides: { timeout_seconds: 1 },
  })
  await beacon.gone('agent')
  const late = await job.running.taskWhere(task.id, (one) => one.error_annotation !== null)
  expect(late.error_annotation).toMatchObject({ type: 'execution_failed' })
  expect(late.error_annotation?.message).toContain('1 s')
})

test.concurrent('explains a missing program and a missing command', async () => {
  await using job = await startJob()
  const { client } = job.running
  const config = { command: '/nowhere/at/all/claude' }
  const claude = await client.call('agents.create', { name: 'Claude', executor: 'claude-code', config })
  const task = await job.task()
  await job.claim(task, claude)
  const missing = await job.running.taskWhere(task.id, (one) => one.error_annotation !== null)
  expect(missing).toMatchObject({ status: 'in_progress', error_annotation: { type: 'execution_failed' } })
  expect(missing.error_annotation?.message).toContain('/nowhere/at/all/claude')
  const other = await job.task()
  await job.claim(other, await job.agent('no-such-program-anywhere --do'))
  const unknown = await job.running.taskWhere(other.id, (one) => one.error_annotation !== null)
  expect(unknown.error_annotation?.message).toContain('not found')
  const empty = client.call('agents.create', { name: 'Empty', executor: 'command', config: { command: ' ' } })
  expect(await refused(empty)).toMatchObject({ code: 'validation_failed' })
  const workspace = await client.call('tasks.workspace', { task_id: task.id })
  expect(workspace.lock).toBeNull()
})

test.concurrent('hides secrets that an agent prints or leaves as its last message', async () => {
  await using job = await startJob()
  const { client } = job.running
  await job.settings({ redaction_patterns: ['hunter[0-9]+'] })
  const agent = await job.agent('echo "the token is $SVC_API_TOKEN"; echo "password hunter2" >&2; exit 1')
  const task = await job.task()
  const { execution } = await job.claim(task, agent)
  const failed = await job.running.taskWhere(task.id, (one) => one.error_annotation !== null)
  const ended = await client.call('executions.get', { execution_id: execution.id })
  const { items: logs } = await client.call('tasks.logs', { task_id: task.id })
  const texts = await Promise.all(
    logs.map(async ({ name }) => {
      const { data_base64 } = await client.call('tasks.read_log', { task_id: task.id, name })
      return Buffer.from(data_base64, 'base64').toString()
    }),
  )
  expect(logs.length).toBeGreaterThan(1)
  const all = [JSON.stringify(failed), JSON.stringify(ended), ...texts].join('\n')
  expect(all).toContain('password [redacted]')
  expect(all).not.toContain('hunter2')
  expect(all).not.toMatch(/svc_[A-Za-z0-9_-]{43}/)
})

test.concurrent('hides secrets of CI output in review and prompt', async () => {
  await using job = await startJob()
  await job.settings({ redaction_patterns: ['hunter[0-9]+'] })
  const agent = await job.agent('echo x >> work.txt; echo done')
  const task = await job.task({
    review_config: { ci_steps: ['echo password hunter$((1+1)); test "$(wc -l < work.txt)" -gt 1'] },
  })
  await job.claim(task, agent)
  await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  const { items } = await job.running.client.call('tasks.reviews', { task_id: task.id })
  const all = JSON.stringify([items, await job.executions(task.id), await job.transitions(task.id)])
  expect(all).toContain('password [redacted]')
  expect(all).not.toContain('hunter2')
})

test.concurrent('ends the set-up of a worktree on stop', async () => {
  await using beacon = await createProcessBeacon()
  await using job = await startJob()
  const { client } = job.running
  await job.settings({ setup_commands: [beacon.hold('setup', 'sleep 1000')] })
  const task = await job.task()
  const agent = await job.agent('echo hi')
  const claiming = job.claim(task, agent)
  await beacon.alive('setup')
  expect(await refusalOf(job.claim(task, agent))).toBe('already_claimed')
  const cancelled = await client.call('tasks.cancel', { task_id: task.id })
  await beacon.gone('setup')
  expect(cancelled.task.status).toBe('cancelled')
  await claiming
  expect((await job.executions(task.id)).map((one) => one.status)).toEqual(['cancelled'])
})

test.concurrent('ends the agents when the app closes, and says so on their tasks', async () => {
  await using beacon = await createProcessBeacon()
  await using job = await startJob({ keepData: true })
  const agent = await job.agent(beacon.hold('agent', 'sleep 1000'))
  const task = await job.task()
  await job.claim(task, agent)
  await beacon.alive('agent')
  job.running = await job.running.restart()
  await beacon.gone('agent')
  const paused = await job.running.client.call('tasks.get', { task_id: task.id })
  expect(paused).toMatchObject({ status: 'in_progress', error_annotation: { type: 'execution_paused' } })
})
