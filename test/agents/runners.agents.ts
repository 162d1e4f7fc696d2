import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { executorInfos } from '../../src-shared/contract/executor-profiles.ts'
import type { Execution } from '../../src-shared/contract/executions.ts'
import type { RunnerId } from '../../src-shared/contract/ids.ts'
import type { OperationInput } from '../../src-shared/contract/operations.ts'
import type { AgentConfig } from '../../src-shared/contract/projects.ts'
import type { Task } from '../../src-shared/contract/tasks.ts'
import { scripted, type ModelStep } from '../fakes/model-server.ts'
import { ensureBuilt } from '../helpers/built.ts'
import { present } from '../helpers/present.ts'
import { runApp, type RunningApp } from '../helpers/running-app.ts'
import { createAgentBench, type AgentBench } from './agent-bench.ts'
import { agentSetups, claudeCode, type AgentSetup } from './agent-setups.ts'
import { runnerSetups, type RunnerSetup } from './runner-setups.ts'

/** Codex never asks; opencode does. */
const agents = [claudeCode, ...agentSetups.filter(({ executor }) => ['codex', 'opencode'].includes(executor))]
const rows = runnerSetups.flatMap((runner) =>
  agents.map((agent) => ({ name: `${agent.name}, ${runner.kind}`, runner, agent })),
)

for (const { kind, missing } of runnerSetups)
  if (missing !== null) console.log(`Left out: ${kind}, because there is ${missing}.`)

/** A service, a project and a real agent of it on a runner of one kind. */
interface AgentThere extends AsyncDisposable {
  readonly running: RunningApp
  readonly bench: AgentBench
  readonly runner_id: RunnerId
  /** Creates a task whose prompt has the agent do these steps, and has the agent claim it. */
  start(title: string, steps: readonly ModelStep[], more?: Partial<OperationInput<'tasks.create'>>): Promise<Started>
}
interface Started {
  readonly task: Task
  readonly execution: Execution
}

async function startThere(runner: RunnerSetup, agent: AgentSetup, more: AgentConfig = {}): Promise<AgentThere> {
  await ensureBuilt()
  await using made = new AsyncDisposableStack()
  const bench = made.use(await createAgentBench({ host: runner.host }))
  const running = made.use(await runApp())
  const { client } = running
  const configured = { ...(await agent.configure(bench)), ...more }
  const runner_id = await runner.start({ running, bench, made })
  const config = { ...configured, env: settingsOf(configured.env, runner) }
  const { id: agent_id } = await client.call('agents.create', { name: agent.name, executor: agent.executor, config })
  const { id: project_id } = await client.call('projects.create', { name: 'Agents', repo_path: bench.repository.path })
  await client.call('projects.update_settings', { project_id, runner_ids: [runner_id] })
  const owned = made.move()
  return {
    running,
    bench,
    runner_id,
    start: async (title, steps, about = {}) => {
      const description = scripted(title, steps)
      const task = await client.call('tasks.create', { project_id, title, description, ...about })
      const { execution } = await client.call('tasks.claim', { task_id: task.id, agent_id })
      return { task, execution: present(execution) }
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Agents find their settings by variables, because containers and pods have homes of their own; pods copy them there. */
function settingsOf(
  { HOME = '', CLAUDE_CONFIG_DIR = '', ...env }: AgentConfig['env'] = {},
  { keepsHome }: RunnerSetup,
) {
  return keepsHome ? { ...env, HOME, CLAUDE_CONFIG_DIR, CODEX_HOME: join(HOME, '.codex') } : env
}

describe.each(rows)('$name', ({ runner, agent }) => {
  const { kind, missing, isThere, keepsHome } = runner
  const told = executorInfos[agent.executor].permissions

  test.runIf(missing === null)('does a task from claim to merge, with feedback, a check and landing', async () => {
    await using there = await startThere(runner, agent)
    const { running, bench, runner_id } = there
    const { client } = running
    const steps = (text: string): ModelStep[] => [
      { write: { path: 'greet.txt', content: `${text}\n` } },
      { tool: { name: 'svc_get_task_diff', args: {} } },
      { shell: `${isThere} && echo there > where.txt && git add -A && git commit -qm "Greet"` },
      { say: 'I wrote greet.txt and committed it.' },
    ]
    const since = performance.now()
    const review_config = { ci_steps: [`(${isThere}) && grep -q hello greet.txt`] }
    const { task } = await there.start('Greet', steps('hello'), { review_config })
    const task_id = task.id
    await running.eventually(
      () => client.call('tasks.diff', { task_id, scope: 'branch' }),
      ({ files }) => files.length > 0,
    )
    const firstFile = performance.now() - since
    const passed = (attempt: number) =>
      running.taskWhere(
        task_id,
        (one) => one.review_passed_at !== null && !one.entry_barrier && one.review_summary?.attempt_number === attempt,
      )
    await passed(1)
    const feedback = scripted('Say it louder.', steps('hello, louder'))
    await client.call('tasks.verdict', { task_id, verdict: 'fail', feedback })
    const { version } = await passed(2)

    const { items: runs } = await client.call('tasks.executions', { task_id })
    expect(runs.map((run) => [run.status, run.runner_id])).toEqual([
      ['succeeded', runner_id],
      ['succeeded', runner_id],
    ])
    // Feedback goes into the same session, where there is one yet.
    expect(new Set(runs.map(({ session_id }) => session_id)).size).toBe(keepsHome ? 1 : 2)

    // What has landed before is checked together with the task.
    await bench.repository.commit('Add another file', { 'other.txt': 'other\n' })
    const merged = await client.call('tasks.transition', { task_id, status: 'merging', version })
    expect(merged).toMatchObject({ task: { status: 'done' }, landing: { result: 'landed' } })
    expect(await bench.repository.git(['show', 'main:greet.txt', 'main:where.txt'])).toBe('hello, louder\nthere')
    const between = [firstFile, performance.now() - since].map((ms) => `${Math.round(ms)} ms`)
    console.log(`${agent.name}, ${kind}: claim to first file ${between[0]}, to merge ${between[1]}`)
  })

  test.runIf(missing === null)('is stopped, keeps its work, and is resumed', async () => {
    await using there = await startThere(runner, agent)
    const { running, bench } = there
    const { client } = running
    const { task, execution } = await there.start('Write half of it', [
      { write: { path: 'half.txt', content: 'half\n' } },
      { shell: 'tail -f /dev/null' },
    ])
    const task_id = task.id
    const seen = async () =>
      (await client.call('tasks.diff', { task_id, scope: 'branch' })).files.map(({ path }) => path)
    await running.eventually(seen, (paths) => paths.includes('half.txt'))
    await bench.model.waitForCall(({ index }) => index === 1)
    const stopped = await client.call('executions.stop', { execution_id: execution.id })
    expect(stopped.execution.status).toBe('stopped')
    expect(await seen()).toEqual(['half.txt'])

    const description = scripted('Finish it', [
      { shell: 'cat half.txt half.txt > whole.txt && git add -A && git commit -qm Whole' },
      { say: 'It is whole now.' },
    ])
    await client.call('tasks.update', { task_id, description })
    await client.call('tasks.recover', { task_id, action: 'resume' })
    await running.taskWhere(task_id, ({ status }) => status === 'review')
    expect(await seen()).toEqual(['half.txt', 'whole.txt'])
    // What the task said before is in its session alone.
    const { said } = present(bench.model.log.findLast(({ index }) => index === 1))
    expect(said.includes('tail -f /dev/null')).toBe(keepsHome)
  })

  test.runIf(missing === null && told.includes('ask'))('does what a person allows when it asks', async () => {
    await using there = await startThere(runner, agent, { permissions: 'ask' })
    const { running } = there
    const { client } = running
    const shell = `(${isThere}) && echo allowed > asked.txt`
    const { task, execution } = await there.start('Ask first', [{ shell }, { say: 'I wrote asked.txt.' }])
    const execution_id = execution.id
    const { asks = [] } = await running.eventually(
      () => client.call('executions.get', { execution_id }),
      (one) => (one.asks ?? []).length > 0,
    )
    const ask = present(asks[0])
    expect(ask.action).toBe('run')
    await client.call('executions.answer', { execution_id, ask_id: ask.id, option_id: 'allow' })
    await running.taskWhere(task.id, ({ status }) => status === 'review')
    const { patch } = await client.call('tasks.diff', { task_id: task.id, scope: 'branch' })
    expect(patch).toContain('+allowed')
  })
})
