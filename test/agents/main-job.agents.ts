import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { TranscriptEntry } from '../../src-shared/contract/executions.ts'
import { scripted } from '../fakes/model-server.ts'
import { startKillableApp } from '../helpers/killable-app.ts'
import { runApp, type RunningApp } from '../helpers/running-app.ts'
import { createAgentBench, type AgentBench } from './agent-bench.ts'
import { agentBinary } from './agent-binaries.ts'
import { present } from '../helpers/present.ts'

test('takes a task from claim to merge with Claude Code, its tools and bound token', async () => {
  await using bench = await createAgentBench()
  await using running = await runApp()
  const { client } = running
  const { project, agent } = await setUp(bench, running)
  const steps = [
    { write: { path: 'greet.txt', content: 'hello\n' } },
    { tool: { name: 'svc_get_task_diff', args: {} } },
    { shell: 'git add -A && git commit -qm "Greet"' },
    { say: 'I wrote greet.txt and committed it.' },
  ]
  const task = await client.call('tasks.create', {
    project_id: project.id,
    title: 'Greet',
    description: scripted('Write greet.txt.', steps),
    review_config: { ci_steps: ['grep -qx "hello again" greet.txt'] },
  })
  const claimed = await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })

  // CI rejects: the task returns with the output, into the same session.
  const again = scripted('CI wants another greeting.', [
    { write: { path: 'greet.txt', content: 'hello again\n' } },
    { say: 'Done: it greets again.' },
  ])
  await running.taskWhere(task.id, (one) => one.status === 'in_progress' && one.version > claimed.task.version)
  await client.call('tasks.update', { task_id: task.id, description: again })
  const rejected = await running.taskWhere(task.id, (one) => one.review_summary?.attempt_number === 2)
  expect(rejected.error_annotation).toBeNull()

  const { items: executions } = await client.call('tasks.executions', { task_id: task.id })
  expect(executions.map((one) => one.status)).toContain('succeeded')
  const first = await transcript(running, present(claimed.execution).id)
  expect(first.map((entry) => (entry.type === 'tool_call' ? `${entry.type} ${entry.action}` : entry.type))).toEqual(
    expect.arrayContaining([
      'prompt',
      'tool_call write',
      'tool_call run',
      'tool_call mcp',
      'tool_result',
      'message',
      'usage',
    ]),
  )
  const answer = first.find(
    (entry) => entry.type === 'tool_result' && entry.text.includes('greet.txt') && entry.text.includes('patch'),
  )
  expect(answer).toMatchObject({ ok: true })
  expect(executions.at(-1)).toMatchObject({ usage: { output_tokens: expect.any(Number) as number } })
  expect(executions[0]?.session_id).toBe(executions.at(-1)?.session_id)
  expect(executions[0]?.prompt).toContain('The check')
})

test('finishes a task with Claude Code that CI accepts, and lets a person merge', async () => {
  await using bench = await createAgentBench()
  await using running = await runApp()
  const { client } = running
  const { project, agent } = await setUp(bench, running)
  const task = await client.call('tasks.create', {
    project_id: project.id,
    title: 'Say hello',
    description: scripted('Write hello.txt and leave the commit to others.', [
      { write: { path: 'hello.txt', content: 'hello\n' } },
      { say: 'hello.txt is there.' },
    ]),
    review_config: { ci_steps: ['grep -qx hello hello.txt'] },
  })
  await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  const passed = await running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  const merged = await client.call('tasks.transition', { task_id: task.id, status: 'merging', version: passed.version })
  expect(merged.task.status).toBe('done')
  expect(await bench.repository.git(['show', 'main:hello.txt'])).toBe('hello')
})

test('keeps the work of a stopped Claude Code and offers to resume', async () => {
  await using bench = await createAgentBench()
  await using running = await runApp()
  const { client } = running
  const { project, agent } = await setUp(bench, running)
  const task = await client.call('tasks.create', {
    project_id: project.id,
    title: 'Never end',
    description: scripted('Write half.txt, then wait.', [
      { write: { path: 'half.txt', content: 'half\n' } },
      { shell: 'tail -f /dev/null' },
    ]),
  })
  const { execution } = await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  await bench.model.waitForCall((call) => call.index === 1)
  const stopped = await client.call('executions.stop', { execution_id: present(execution).id })
  expect(stopped.execution.status).toBe('stopped')
  expect(stopped.task).toMatchObject({
    status: 'in_progress',
    active_execution_id: null,
    error_annotation: { type: 'execution_paused', recovery_actions: ['resume', 'retry_execution'] },
  })
  const diff = await client.call('tasks.diff', { task_id: task.id })
  expect(diff.files.map((file) => file.path)).toEqual(['half.txt'])
})

test('resumes Claude Code in its session after the service was killed', async () => {
  await using bench = await createAgentBench()
  const dataDir = await mkdtemp(join(tmpdir(), 'copse-agents-'))
  try {
    await using first = await startKillableApp(dataDir)
    const { project, agent } = await setUp(bench, first)
    const task = await first.client.call('tasks.create', {
      project_id: project.id,
      title: 'Survive',
      description: scripted('Write half.txt, then wait.', [
        { write: { path: 'half.txt', content: 'half\n' } },
        { shell: 'tail -f /dev/null' },
      ]),
    })
    const { execution } = await first.client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
    await bench.model.waitForCall((call) => call.index === 1)
    await first.kill()

    await using second = await startKillableApp(dataDir)
    const lost = await second.client.call('tasks.get', { task_id: task.id })
    expect(lost.error_annotation).toMatchObject({
      type: 'execution_lost',
      recovery_actions: ['resume', 'retry_execution'],
    })
    const before = await second.client.call('executions.get', { execution_id: present(execution).id })
    await second.client.call('tasks.update', {
      task_id: task.id,
      description: scripted('Finish it.', [{ say: 'half.txt is whole now.' }]),
    })
    await second.client.call('tasks.recover', { task_id: task.id, action: 'resume' })
    // Its context may come after the prompt.
    const call = await bench.model.waitForCall((one) => one.said.includes('Finish it.'))
    expect(call.said).toContain('Write half.txt, then wait.')
    const done = await second.eventually(
      () => second.client.call('tasks.executions', { task_id: task.id }),
      ({ items }) => items[0]?.status === 'succeeded',
    )
    expect(done.items[0]?.session_id).toBe(before.session_id)
  } finally {
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
  }
})

async function setUp(bench: AgentBench, running: Pick<RunningApp, 'client'>) {
  const project = await running.client.call('projects.create', { name: 'Agents', repo_path: bench.repository.path })
  const agent = await running.client.call('agents.create', {
    name: 'Claude Code',
    executor: 'claude-code',
    config: { command: await agentBinary('claude-code'), model: 'fake-1', env: { ...bench.env } },
  })
  return { project, agent }
}

async function transcript(running: RunningApp, execution_id: string): Promise<TranscriptEntry[]> {
  const entries: TranscriptEntry[] = []
  for await (const item of running.client.transcript({ execution_id }, null, AbortSignal.timeout(30_000))) {
    if (item.kind === 'end') break
    entries.push(item.entry)
  }
  return entries
}
