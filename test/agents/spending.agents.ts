import { expect, test } from 'vitest'
import type { ExecutorProfile } from '../../src-shared/contract/executor-profiles.ts'
import type { AgentConfig } from '../../src-shared/contract/projects.ts'
import { scripted } from '../fakes/model-server.ts'
import { runApp } from '../helpers/running-app.ts'
import { createAgentBench, type AgentBench } from './agent-bench.ts'
import { agentBinary } from './agent-binaries.ts'
import { agentSetups } from './agent-setups.ts'

const codex = agentSetups.find(({ executor }) => executor === 'codex')

const setups: readonly [ExecutorProfile, (bench: AgentBench) => Promise<AgentConfig>][] = [
  ['claude-code', async ({ env }) => ({ command: await agentBinary('claude-code'), model: 'fake-1', env: { ...env } })],
  ['codex', async (bench) => (await codex?.configure(bench)) ?? {}],
]
/** Each request of the scripted server reports this many tokens. */
const tokensPerCall = 120
const outputPerCall = 20

test.each(setups)(
  '%s: adds up to what its provider counted, also in a resumed session',
  async (executor, configure) => {
    await using bench = await createAgentBench()
    await using running = await runApp()
    const { client } = running
    const project = await client.call('projects.create', { name: 'Spend', repo_path: bench.repository.path })
    const agent = await client.call('agents.create', { name: 'Real', executor, config: await configure(bench) })
    const task = await client.call('tasks.create', {
      project_id: project.id,
      title: 'Spend',
      description: scripted('Write a.txt.', [
        { write: { path: 'a.txt', content: 'a\n' } },
        { shell: 'cat a.txt' },
        { say: 'It is there. Shall I write b.txt too?' },
      ]),
    })
    await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
    await running.taskWhere(task.id, (one) => one.error_annotation !== null)
    await client.call('tasks.update', {
      task_id: task.id,
      description: scripted('Yes.', [{ write: { path: 'b.txt', content: 'b\n' } }, { say: 'Both are there.' }]),
    })
    await client.call('tasks.recover', { task_id: task.id, action: 'resume' })
    await running.taskWhere(task.id, (one) => one.status === 'review')
    const sum = await client.call('tasks.usage', { task_id: task.id })
    expect(sum.executions).toBe(2)
    expect((sum.input_tokens ?? 0) + (sum.output_tokens ?? 0)).toBe(bench.model.log.length * tokensPerCall)
  },
)

test.each(setups)(
  '%s: stops within one request more when capped at $0.01, and resumes after a raise',
  async (executor, configure) => {
    await using bench = await createAgentBench()
    await using running = await runApp()
    const { client } = running
    const project = await client.call('projects.create', { name: 'Cap', repo_path: bench.repository.path })
    const config = await configure(bench)
    const usd = 0.003
    // Only output costs, which Claude Code tells in the parts of its messages.
    const price = { input_usd_per_mtok: 0, output_usd_per_mtok: (usd / outputPerCall) * 1_000_000 }
    await client.call('projects.update_settings', {
      project_id: project.id,
      prices: { [config.model ?? '']: price },
      limits: { per_run: null, per_task: { usd: 0.01 }, per_day: null, warn_at: 0.8 },
    })
    const agent = await client.call('agents.create', { name: 'Real', executor, config })
    const steps = Array.from({ length: 12 }, (_, n) => ({ shell: `echo ${n}`, delay: 200 }))
    const task = await client.call('tasks.create', {
      project_id: project.id,
      title: 'Cap',
      description: scripted('Count.', [...steps, { say: 'Counted.' }]),
    })
    await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
    const held = await running.taskWhere(task.id, (one) => one.error_annotation !== null || one.status === 'review')
    expect(held.error_annotation).toMatchObject({ type: 'limit_reached', limit: 'per_task.usd', allowed: 0.01 })
    const enough = Math.ceil(0.01 / usd)
    expect(bench.model.log.filter(({ index }) => index >= 0).length).toBeLessThanOrEqual(enough + 1)
    await client.call('tasks.recover', { task_id: task.id, action: 'raise_limit', to: 5 })
    await running.taskWhere(task.id, (one) => one.status === 'review')
    const { items } = await client.call('tasks.executions', { task_id: task.id })
    expect(items.map(({ status }) => status)).toEqual(['succeeded', 'stopped'])
    expect(items[0]?.session_id).toBe(items[1]?.session_id)
  },
)
