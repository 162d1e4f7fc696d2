import { executorInfos, type PermissionPolicy } from '../../src-shared/contract/executor-profiles.ts'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createExecutors } from '../../src-main/agents/create-executors.ts'
import type { AgentRequestAnswer, AgentRequest, ExecutionOutcome } from '../../src-main/ports/executors.ts'
import { scripted, type ModelStep } from '../fakes/model-server.ts'
import { createAgentBench, createMemoryLog, type AgentBench, type MemoryLog } from './agent-bench.ts'
import { agentBinary } from './agent-binaries.ts'
import { agentSetups, type AgentSetup } from './agent-setups.ts'
import { startNoteMcpServer } from './note-mcp-server.ts'

const executors = createExecutors()
const never = new AbortController().signal

const claude: AgentSetup = {
  name: 'Claude Code',
  executor: 'claude-code',
  configure: async (bench) => ({
    command: await agentBinary('claude-code'),
    model: 'claude-sonnet-4-5',
    env: { ...bench.env },
  }),
}
const asking = [claude, ...agentSetups].filter(({ executor }) => executorInfos[executor].permissions.includes('ask'))

interface Asked {
  readonly outcome: ExecutionOutcome
  readonly log: MemoryLog
  readonly requests: readonly AgentRequest[]
}

/** Runs a script under a policy; every question gets the option of this kind. */
async function run(
  { executor, configure }: AgentSetup,
  bench: AgentBench,
  about: {
    readonly permissions: PermissionPolicy
    readonly steps: readonly ModelStep[]
    readonly answer: (request: AgentRequest) => Partial<AgentRequestAnswer> | string
    readonly mcp?: { readonly url: string; readonly token: string }
  },
): Promise<Asked> {
  const log = createMemoryLog()
  const requests: AgentRequest[] = []
  const ask = (request: AgentRequest): Promise<AgentRequestAnswer> => {
    requests.push(request)
    const answer = about.answer(request)
    if (typeof answer !== 'string') return Promise.resolve({ option: null, text: null, ...answer })
    return Promise.resolve({ option: request.options.find(({ id }) => id === answer) ?? null, text: null })
  }
  const config = { ...(await configure(bench)), permissions: about.permissions }
  const prompt = scripted('Do it.', about.steps)
  const running = await executors.start(executor, bench.run({ prompt, log, config, ask, mcp: about.mcp ?? null }), {
    signal: never,
  })
  const outcome = await running.outcome
  // None of these agents acts on its own.
  expect(outcome.unasked).toBeUndefined()
  return { outcome, log, requests }
}

const brief = ({ action, target }: AgentRequest): string => `${action ?? 'question'} ${target ?? ''}`

describe.each(asking)('$name', (setup) => {
  test('asks before it writes and runs, does what is allowed, and leaves what is rejected', async () => {
    await using bench = await createAgentBench()
    await using mcp = await startNoteMcpServer()
    const steps = [
      { write: { path: 'allowed.txt', content: 'yes\n' } },
      { tool: { name: 'svc_note', args: { text: 'from the agent' } } },
      { shell: 'touch rejected.txt' },
      { say: 'Done as far as I may.' },
    ]
    const answer = ({ action }: AgentRequest): string => (action === 'run' ? 'reject' : 'allow')
    const { outcome, log, requests } = await run(setup, bench, { permissions: 'ask', steps, answer, mcp })

    expect(requests.map(brief)).toEqual(['write allowed.txt', 'run touch rejected.txt'])
    expect(requests[0]?.diff).toEqual({ path: 'allowed.txt', old_text: null, new_text: 'yes\n' })
    expect(requests[1]?.detail).toBe('touch rejected.txt')
    expect(await readFile(join(bench.worktree, 'allowed.txt'), 'utf8')).toBe('yes\n')
    expect(existsSync(join(bench.worktree, 'rejected.txt'))).toBe(false)
    expect(mcp.notes).toEqual(['from the agent'])
    // The rejection was reported too and had no effect; not every agent says so.
    const call = log.entries.find((entry) => entry.type === 'tool_call' && entry.action === 'run')
    const id = call?.type === 'tool_call' ? call.id : null
    expect(call).toMatchObject({ target: 'touch rejected.txt' })
    expect(log.entries.some((entry) => entry.type === 'tool_result' && entry.id === id && entry.ok)).toBe(false)
    expect(outcome).toMatchObject({ ended: 'exited' })
  })

  test('asks only about commands and files elsewhere if it may edit its worktree', async () => {
    await using bench = await createAgentBench()
    const elsewhere = join(bench.repository.beside, 'elsewhere.txt')
    const steps = [
      { write: { path: 'inside.txt', content: 'inside\n' } },
      { shell: 'echo ran > ran.txt' },
      { write: { path: elsewhere, content: 'outside\n' } },
      { say: 'Done.' },
    ]
    const answer = ({ action }: AgentRequest): string => (action === 'run' ? 'allow' : 'reject')
    const { requests } = await run(setup, bench, { permissions: 'worktree', steps, answer })

    expect(await readFile(join(bench.worktree, 'inside.txt'), 'utf8')).toBe('inside\n')
    expect(await readFile(join(bench.worktree, 'ran.txt'), 'utf8')).toBe('ran\n')
    expect(existsSync(elsewhere)).toBe(false)
    expect(requests.filter(({ action }) => action !== 'run').every(({ target }) => target?.includes('elsewhere'))).toBe(
      true,
    )
    expect(requests.map(brief)).toContain('run echo ran > ran.txt')
  })
})

test('passes questions of Claude Code to people, and continues with the answer', async () => {
  await using bench = await createAgentBench()
  const options = ['Blue', 'Red'].map((label) => ({ label, description: `All ${label}` }))
  const questions = [{ question: 'Which colour?', header: 'Colour', multiSelect: false, options }]
  const steps = [{ tool: { name: 'AskUserQuestion', args: { questions } } }, { say: 'It is so.' }]
  const answer = ({ options: [, second] }: AgentRequest) => ({ option: second ?? null, text: 'a dark one' })
  const { outcome, requests } = await run(claude, bench, { permissions: 'worktree', steps, answer })

  expect(requests).toMatchObject([
    { kind: 'question', text: 'Which colour?', multiple: false, takes_text: true, options: [{ label: 'Blue' }, {}] },
  ])
  expect(bench.model.log.at(-1)?.said).toContain('Red: a dark one')
  expect(outcome).toMatchObject({ exit_code: 0, message: 'It is so.' })
})

test('passes no questions to Claude Code where it may do everything', async () => {
  await using bench = await createAgentBench()
  const steps = [{ shell: 'touch ran.txt' }, { say: 'Done.' }]
  const { requests } = await run(claude, bench, { permissions: 'all', steps, answer: () => 'reject' })
  expect(requests).toEqual([])
  expect(existsSync(join(bench.worktree, 'ran.txt'))).toBe(true)
})

test.each([claude, ...agentSetups.filter(({ executor }) => executor === 'opencode')])(
  '$name asks us even if settings in the worktree allow everything',
  async (setup) => {
    await using bench = await createAgentBench()
    await mkdir(join(bench.worktree, '.claude'))
    const allow = { permissions: { allow: ['Bash', 'Bash(*)', 'Write', 'Edit'], defaultMode: 'bypassPermissions' } }
    await writeFile(join(bench.worktree, '.claude', 'settings.json'), JSON.stringify(allow))
    await writeFile(
      join(bench.worktree, 'opencode.json'),
      JSON.stringify({ permission: { '*': 'allow', bash: 'allow' } }),
    )
    const steps = [{ shell: 'touch ran.txt' }, { write: { path: 'written.txt', content: 'x' } }, { say: 'Done.' }]
    const { requests } = await run(setup, bench, { permissions: 'ask', steps, answer: () => 'reject' })
    expect(requests[0]).toMatchObject({ action: 'run', target: 'touch ran.txt' })
    expect(existsSync(join(bench.worktree, 'ran.txt'))).toBe(false)
    expect(existsSync(join(bench.worktree, 'written.txt'))).toBe(false)
  },
)
