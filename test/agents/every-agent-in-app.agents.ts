import { describe, expect, test } from 'vitest'
import type { AgentConfig } from '../../src-shared/contract/projects.ts'
import { scripted } from '../fakes/model-server.ts'
import { runApp, type RunningApp } from '../helpers/running-app.ts'
import { createAgentBench, type AgentBench } from './agent-bench.ts'
import { agentSetups, type AgentSetup } from './agent-setups.ts'
import { passAfterRefusal } from './refused-job.ts'

async function setUp(
  setup: AgentSetup,
  bench: AgentBench,
  { client }: Pick<RunningApp, 'client'>,
  more: AgentConfig = {},
) {
  const project = await client.call('projects.create', { name: 'Agents', repo_path: bench.repository.path })
  const config = { ...(await setup.configure(bench)), ...more }
  const agent = await client.call('agents.create', { name: setup.name, executor: setup.executor, config })
  return { project, agent }
}

describe.each(agentSetups)('$name in the app', (setup) => {
  test('takes a task from claim to merge in one session, with a rejection by CI', async () => {
    await using bench = await createAgentBench()
    await using running = await runApp()
    const { client } = running
    const { project, agent } = await setUp(setup, bench, running)
    const steps = [
      { write: { path: 'greet.txt', content: 'hello\n' } },
      { tool: { name: 'svc_get_task_diff', args: {} } },
      { say: 'greet.txt is there.' },
    ]
    const task = await passAfterRefusal(bench, running, { project_id: project.id, agent_id: agent.id, steps })
    const merged = await client.call('tasks.transition', {
      task_id: task.id,
      status: 'merging',
      version: task.version,
    })

    expect(merged.task.status).toBe('done')
    expect(await bench.repository.git(['show', 'main:greet.txt'])).toBe('hello')
    expect(await bench.repository.git(['show', 'main:second.txt'])).toBe('second')
    const { items } = await client.call('tasks.executions', { task_id: task.id })
    expect(items.map((one) => one.status)).toContain('succeeded')
    expect(new Set(items.map((one) => one.session_id)).size).toBe(1)
    // Neither run counts the other's usage: a model turn is 20 tokens, and no run has more than five.
    const used = items.map(({ usage }) => usage?.output_tokens ?? null)
    // opencode tells only what its last request used.
    const isRight = (tokens: number | null) =>
      setup.executor === 'opencode' ? tokens === null : tokens !== null && tokens > 0 && tokens <= 100
    expect(used.filter((tokens) => !isRight(tokens))).toEqual([])
  })
})

const codex = agentSetups.filter(({ executor }) => executor === 'codex')

describe.each(codex)('$name in its sandbox', (setup) => {
  test('can’t commit, so we commit its work', async () => {
    await using bench = await createAgentBench()
    await using running = await runApp()
    const { client } = running
    const { project, agent } = await setUp(setup, bench, running, { args: ['--sandbox', 'workspace-write'] })
    const steps = [
      { write: { path: 'hello.txt', content: 'hello\n' } },
      { shell: 'git add -A && git commit -qm "Say hello"' },
      { tool: { name: 'svc_get_task_diff', args: {} } },
      { say: 'I could not commit.' },
    ]
    const description = scripted('Say hello.', steps)
    const task = await client.call('tasks.create', { project_id: project.id, title: 'Say hello', description })
    await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
    const passed = await running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
    const merged = await client.call('tasks.transition', {
      task_id: task.id,
      status: 'merging',
      version: passed.version,
    })

    expect(merged.task.status).toBe('done')
    expect(await bench.repository.git(['show', 'main:hello.txt'])).toBe('hello')
    const commits = await bench.repository.git(['log', '--format=%s%n%b', 'main'])
    expect(commits).toContain(task.id)
    expect(bench.model.log.findLast(({ index }) => index === 2)?.said).toContain('Read-only file system')
  })

  test('counts exit 0 without work as silent', async () => {
    await using bench = await createAgentBench()
    await using running = await runApp()
    const { client } = running
    const { project, agent } = await setUp(setup, bench, running)
    const description = scripted('Do something.', [{ say: '' }])
    const task = await client.call('tasks.create', { project_id: project.id, title: 'Nothing', description })
    await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
    const stayed = await running.taskWhere(task.id, (one) => one.error_annotation !== null)
    expect(stayed).toMatchObject({
      status: 'in_progress',
      error_annotation: { type: 'execution_incomplete', reason: 'nothing_done' },
    })
  })
})
