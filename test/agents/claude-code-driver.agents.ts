import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeAll, expect, test, vi } from 'vitest'
import { createClaudeCodeDriver } from '../../src-main/agents/claude-code/definition.ts'
import type { ExecutionOutcome, ExecutionRun } from '../../src-main/ports/executors.ts'
import { scripted } from '../fakes/model-server.ts'
import { createAgentBench, createMemoryLog } from './agent-bench.ts'
import type { AgentBench, MemoryLog } from './agent-bench.ts'
import { agentBinary, pinnedAgents } from './agent-binaries.ts'
import { startNoteMcpServer } from './note-mcp-server.ts'
import { processesIn } from './processes.ts'

const driver = createClaudeCodeDriver()
const model = 'claude-sonnet-4-5'
let binary = ''
beforeAll(async () => {
  binary = await agentBinary('claude-code')
})

afterEach(() => {
  vi.unstubAllEnvs()
})

interface Finished {
  readonly outcome: ExecutionOutcome
  readonly log: MemoryLog
}

const never = new AbortController().signal

async function finish(bench: AgentBench, about: Partial<ExecutionRun> & { prompt: string }): Promise<Finished> {
  const log = createMemoryLog()
  const config = { command: binary, env: { ...bench.env }, model, ...about.config }
  const running = await driver.start(bench.run({ ...about, log, config }), { signal: never })
  return { outcome: await running.outcome, log }
}

test('writes a file, commits in its own shell, and shows both in the transcript', async () => {
  await using bench = await createAgentBench()
  const prompt = scripted('Add a greeting.', [
    { say: 'I add it.', write: { path: 'greeting.txt', content: 'hello\n' } },
    { tool: { name: 'Edit', args: { file_path: 'greeting.txt', old_string: 'hello', new_string: 'hello there' } } },
    { shell: 'git add --all && git commit --quiet --message "Add a greeting" && git status --short --branch' },
    { say: 'The greeting is committed.' },
  ])
  const { outcome, log } = await finish(bench, { prompt })

  const session_id = expect.stringMatching(/^[0-9a-f-]{36}$/) as string
  const usage = { input_tokens: 400, output_tokens: 80, cost_usd: expect.any(Number) as number }
  expect(outcome).toEqual({
    ended: 'exited',
    exit_code: 0,
    session_id,
    usage,
    conclusion: 'done',
    message: 'The greeting is committed.',
  })
  expect(await bench.repository.git(['show', 'svc/example:greeting.txt'])).toBe('hello there')
  expect(await bench.repository.git(['log', '-1', '--format=%s', 'svc/example'])).toBe('Add a greeting')

  const entries = log.entries
    .filter(({ type }) => type !== 'stderr' && type !== 'usage')
    .map(({ at, ...entry }) => [Date.parse(at) > 0, entry])
  const id = expect.stringMatching(/^toolu_/) as string
  const call = { type: 'tool_call', id, input: expect.any(Object) as object }
  const result = { type: 'tool_result', id, ok: true }
  const text = expect.any(String) as string
  const diff = { path: 'greeting.txt' }
  expect(entries).toEqual(
    [
      { type: 'prompt', text: prompt },
      { type: 'message', text: 'I add it.' },
      {
        ...call,
        tool: 'Write',
        action: 'write',
        target: 'greeting.txt',
        diff: { ...diff, old_text: null, new_text: 'hello\n' },
      },
      { ...result, text },
      {
        ...call,
        tool: 'Edit',
        action: 'edit',
        target: 'greeting.txt',
        diff: { ...diff, old_text: 'hello', new_text: 'hello there' },
      },
      { ...result, text, line: 1 },
      { ...call, tool: 'Bash', action: 'run', target: expect.stringContaining('git commit') as string, diff: null },
      { ...result, text: expect.stringContaining('## svc/example') as string },
      { type: 'message', text: 'The greeting is committed.' },
    ].map((entry) => [true, entry]),
  )
  const spent = log.entries.flatMap((entry) => (entry.type === 'usage' ? [entry] : []))
  expect(spent.reduce((sum, { output_tokens }) => sum + output_tokens, 0)).toBe(80)
  // Nothing but the cost is left for the end.
  expect(spent.at(-1)).toMatchObject({ input_tokens: 0, output_tokens: 0, cost_usd: expect.any(Number) as number })
  expect(log.closed()).toBe(true)
  expect(log.rawText()).toContain('"type":"result"')
  expect(await processesIn(bench.worktree)).toEqual([])
})

test('resumes the same session with feedback, which knows what was said', async () => {
  await using bench = await createAgentBench()
  const first = await finish(bench, { prompt: scripted('Call it Juniper.', [{ say: 'Shall I go on?' }]) })
  expect(first.outcome).toMatchObject({ conclusion: 'question', message: 'Shall I go on?' })

  const prompt = scripted('Yes.', [{ write: { path: 'name.txt', content: 'Juniper\n' } }, { say: 'Done.' }])
  const second = await finish(bench, { prompt, session_id: first.outcome.session_id })

  expect(second.outcome).toMatchObject({ exit_code: 0, session_id: first.outcome.session_id, conclusion: 'done' })
  const played = bench.model.log.filter(({ index }) => index >= 0)
  expect(played.map(({ tool }) => tool)).toEqual([null, 'Write', null])
  expect(await readFile(join(bench.worktree, 'name.txt'), 'utf8')).toBe('Juniper\n')
  expect(played.at(-1)?.said).toContain('Call it Juniper.')
})

test('reports a session that is gone, and does not keep it', async () => {
  await using bench = await createAgentBench()
  const session_id = '0a95ce53-630d-4029-be64-1421957870aa'
  const { outcome } = await finish(bench, { prompt: 'Go on.', session_id })
  expect(outcome).toMatchObject({ ended: 'exited', exit_code: 1, session_id: null, conclusion: 'silent' })
  expect(outcome.message).toContain(session_id)
})

test('receives a person’s message in the same turn or the next', async () => {
  await using bench = await createAgentBench()
  const log = createMemoryLog()
  // It works until the file exists, which only this test creates, so the message arrives while it works.
  const wait = 'until test -e go; do sleep 0.05; done'
  const prompt = scripted('Start.', [{ shell: wait }, { say: 'Started.' }])
  const config = { command: binary, env: { ...bench.env }, model }
  const running = await driver.start(bench.run({ prompt, log, config }), { signal: never })
  await log.waitFor(({ type }) => type === 'tool_call')
  await running.input(scripted('And this.', [{ write: { path: 'more.txt', content: 'more\n' } }, { say: 'All done.' }]))
  await bench.repository.write({ go: '' }, bench.worktree)

  expect(await running.outcome).toMatchObject({ exit_code: 0, conclusion: 'done', message: 'All done.' })
  expect(await readFile(join(bench.worktree, 'more.txt'), 'utf8')).toBe('more\n')
  await expect(running.input('Too late.')).rejects.toMatchObject({ code: 'input_closed' })
})

test('leaves nothing behind when stopped during a turn', async () => {
  await using bench = await createAgentBench()
  const log = createMemoryLog()
  // One process in its group, one that left it; then the model is slow.
  const wait = 'tail -f /dev/null >/dev/null 2>&1'
  const steps = [{ shell: `${wait} & (setsid ${wait} &)` }, { say: 'Never.', delay: 600_000 }]
  const config = { command: binary, env: { ...bench.env }, model }
  const run = bench.run({ prompt: scripted('Wait.', steps), log, config })
  const running = await driver.start(run, { signal: never })
  await bench.model.waitForCall(({ index }) => index === 1)
  const before = await processesIn(bench.worktree)
  expect(before.filter((line) => line.startsWith('tail'))).toHaveLength(2)
  await running.stop()

  const session_id = expect.any(String) as string
  expect(await running.outcome).toMatchObject({ ended: 'stopped', exit_code: 143, session_id })
  expect(await processesIn(bench.worktree)).toEqual([])
  expect(log.closed()).toBe(true)
})

test('reaches our MCP endpoint with its token, which remains nowhere', async () => {
  await using bench = await createAgentBench()
  await using mcp = await startNoteMcpServer()
  vi.stubEnv('TMPDIR', bench.repository.beside)
  const steps = [{ tool: { name: 'svc_note', args: { text: 'from the agent' } } }, { say: 'Noted.' }]
  const { outcome, log } = await finish(bench, { prompt: scripted('Note it.', steps), mcp })

  expect(outcome).toMatchObject({ exit_code: 0, message: 'Noted.' })
  expect(mcp.notes).toEqual(['from the agent'])
  expect(log.entries).toContainEqual(
    expect.objectContaining({ type: 'tool_call', action: 'mcp', tool: 'mcp__svc__svc_note', target: 'from the agent' }),
  )
  expect(await bench.repository.git(['status', '--porcelain'], { cwd: bench.worktree })).toBe('')
  expect((await readdir(bench.repository.beside)).filter((name) => name.startsWith('svc-'))).toEqual([])
  expect(log.rawText()).not.toContain(mcp.token)
})

test('fails the run when the model refuses, and reports too many requests as a limit', async () => {
  await using bench = await createAgentBench()
  const refused = await finish(bench, { prompt: scripted('Go.', [{ error: 400 }]) })
  expect(refused.outcome).toMatchObject({ exit_code: 1, conclusion: 'silent' })
  expect(refused.outcome.message).toContain('400')
  expect(refused.log.entries.filter(({ type }) => type === 'error')).toHaveLength(1)

  const config = { env: { ...bench.env, CLAUDE_CODE_MAX_RETRIES: '0' }, command: binary, model }
  const limited = await finish(bench, { prompt: scripted('Go.', [{ error: 429 }]), config })
  expect(limited.outcome).toMatchObject({ exit_code: 1, conclusion: 'limit' })

  const turns = scripted('Go.', [{ shell: 'true' }])
  const capped = await finish(bench, { prompt: turns, config: { ...config, args: ['--max-turns', '2'] } })
  expect(capped.outcome).toMatchObject({ exit_code: 1, conclusion: 'limit' })
})

test('ends a run at its time limit, with its shell', async () => {
  await using bench = await createAgentBench()
  const { outcome, log } = await finish(bench, {
    prompt: scripted('Wait.', [{ shell: 'tail -f /dev/null' }, { say: 'Never.' }]),
    timeout_seconds: 3,
  })
  expect(outcome).toMatchObject({ ended: 'timed_out', message: expect.stringContaining('3 s') as string })
  expect(log.entries.some(({ type }) => type === 'tool_call')).toBe(true)
  expect(await processesIn(bench.worktree)).toEqual([])
})

test('is found with its version', async () => {
  const env = { ...process.env, PATH: join(binary, '..'), ANTHROPIC_API_KEY: 'scripted' }
  const found = await createClaudeCodeDriver({ env }).detect({ signal: never })
  expect(found).toEqual({
    executor: 'claude-code',
    name: 'Claude Code',
    installed: true,
    path: binary,
    version: pinnedAgents['claude-code'].version,
    signed_in: true,
    hint: null,
  })
})
