import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { classifyRun } from '../../src-shared/contract/run-failures.ts'
import type { TranscriptEntry } from '../../src-shared/contract/executions.ts'
import { TranscriptEntry as TranscriptEntrySchema } from '../../src-shared/contract/executions.ts'
import type { ExecutionOutcome, ExecutionRun } from '../../src-main/ports/executors.ts'
import { createExecutors } from '../../src-main/agents/create-executors.ts'
import { scripted } from '../fakes/model-server.ts'
import { createAgentBench, createMemoryLog } from './agent-bench.ts'
import type { AgentBench, MemoryLog } from './agent-bench.ts'
import { agentSetups } from './agent-setups.ts'
import type { AgentSetup } from './agent-setups.ts'
import { startNoteMcpServer } from './note-mcp-server.ts'
import { processesIn } from './processes.ts'

const executors = createExecutors()
const never = new AbortController().signal

afterEach(() => {
  vi.unstubAllEnvs()
})

interface Finished {
  readonly outcome: ExecutionOutcome
  readonly log: MemoryLog
}

async function finish(
  { executor, configure }: AgentSetup,
  bench: AgentBench,
  about: Partial<ExecutionRun> & { prompt: string },
): Promise<Finished> {
  const log = createMemoryLog()
  const config = { ...(await configure(bench)), ...about.config }
  const running = await executors.start(executor, bench.run({ ...about, log, config }), { signal: never })
  return { outcome: await running.outcome, log }
}

const brief = (entry: TranscriptEntry): string =>
  entry.type === 'tool_call' ? `${entry.type} ${entry.action}` : entry.type

describe.each(agentSetups)('$name', (setup) => {
  test('works with its own tools and ours, leaves no token, and continues its session with feedback', async () => {
    await using bench = await createAgentBench()
    await using mcp = await startNoteMcpServer()
    vi.stubEnv('TMPDIR', bench.repository.beside)
    const steps = [
      { say: 'I write it.', write: { path: 'greeting.txt', content: 'hello\n' } },
      { tool: { name: 'svc_note', args: { text: 'from the agent' } } },
      { shell: 'git add -A && git commit -qm "Add a greeting"' },
      { say: 'The greeting is committed.' },
    ]
    const sessions: string[] = []
    const onSession = (id: string): unknown => sessions.push(id)
    const prompt = scripted('Add a greeting. Call it Juniper.', steps)
    const { outcome, log } = await finish(setup, bench, { prompt, mcp, onSession })

    expect(outcome).toMatchObject({ ended: 'exited', exit_code: 0, conclusion: 'done' })
    expect(outcome.message).toBe('The greeting is committed.')
    // opencode tells only what its last request used.
    const isKnown = setup.executor !== 'opencode'
    expect(outcome.usage).toMatchObject({ output_tokens: isKnown ? (expect.any(Number) as number) : null })
    expect(sessions).toEqual([outcome.session_id])
    expect(await bench.repository.git(['show', 'svc/example:greeting.txt'])).toBe('hello')
    expect(mcp.notes).toEqual(['from the agent'])
    for (const entry of log.entries) TranscriptEntrySchema.parse(entry)
    expect(log.entries.map(brief)).toEqual(
      expect.arrayContaining([
        'prompt',
        'message',
        'tool_call write',
        'tool_call mcp',
        'tool_call run',
        'tool_result',
        'usage',
      ]),
    )
    expect(log.entries.filter(({ type }) => type === 'stdout')).toEqual([])
    expect(log.closed()).toBe(true)
    // The token is in no file of the worktree, no log and no folder of the run.
    expect(log.rawText()).not.toContain(mcp.token)
    expect(await bench.repository.git(['status', '--porcelain'], { cwd: bench.worktree })).toBe('')
    expect((await readdir(bench.repository.beside)).filter((name) => name.startsWith('svc-'))).toEqual([])

    const again = scripted('Add a name.', [
      { write: { path: 'name.txt', content: 'Juniper\n' } },
      { say: 'Is it right?' },
    ])
    const second = await finish(setup, bench, { prompt: again, mcp, session_id: outcome.session_id })
    expect(second.outcome).toMatchObject({ exit_code: 0, session_id: outcome.session_id, conclusion: 'question' })
    expect(await readFile(join(bench.worktree, 'name.txt'), 'utf8')).toBe('Juniper\n')
    const lastCall = bench.model.log.findLast(({ index }) => index >= 0)
    expect(lastCall?.said).toContain('Call it Juniper.')
    // Nothing of the first run is repeated.
    const told = second.log.entries.filter(({ type }) => type !== 'stderr' && type !== 'error').map(brief)
    // Its usage is reported at its end, or after each request.
    expect(told).toContain('usage')
    expect(told.filter((entry) => entry !== 'usage')).toEqual([
      ...['prompt', 'tool_call write', 'tool_result', 'message', 'question'],
    ])
    expect(second.log.entries.at(-1)).toMatchObject({ type: 'question', text: 'Is it right?' })
    expect(await processesIn(bench.worktree)).toEqual([])
  })

  test('is stopped with all its processes, and can be resumed', async () => {
    await using bench = await createAgentBench()
    const log = createMemoryLog()
    const steps = [
      { write: { path: 'half.txt', content: 'half\n' } },
      { shell: 'setsid tail -f /dev/null & tail -f /dev/null' },
    ]
    const config = await setup.configure(bench)
    const prompt = scripted('Write half of it.', steps)
    const running = await executors.start(setup.executor, bench.run({ prompt, log, config }), { signal: never })
    await log.waitFor((entry) => entry.type === 'tool_call' && entry.action === 'run')
    await bench.model.waitForCall(({ index }) => index === 1)
    await running.stop()
    const outcome = await running.outcome
    expect(outcome).toMatchObject({ ended: 'stopped', session_id: expect.any(String) as string })
    expect(await processesIn(bench.worktree)).toEqual([])
    expect(log.closed()).toBe(true)

    const rest = scripted('Finish it.', [{ say: 'It is whole now.' }])
    const second = await finish(setup, bench, { prompt: rest, session_id: outcome.session_id })
    expect(second.outcome).toMatchObject({ exit_code: 0, conclusion: 'talked', message: 'It is whole now.' })
    const lastCall = bench.model.log.findLast(({ index }) => index >= 0)
    expect(lastCall?.said).toContain('Write half of it.')
  })

  test('does not count a refusing model, silent end or lost session as finished work', async () => {
    await using bench = await createAgentBench()
    const refused = await finish(setup, bench, { prompt: scripted('Go.', [{ error: 400 }]) })
    expect(refused.outcome).toMatchObject({ ended: 'exited', exit_code: 1 })
    expect(refused.outcome.message).toContain('400')
    expect(refused.outcome.conclusion).not.toBe('limit')

    const unauthorized = await finish(setup, bench, { prompt: scripted('Go.', [{ error: 401 }]) })
    const { exit_code, message: error } = unauthorized.outcome
    expect(classifyRun({ status: 'failed', error, exit_code })).toBe('not_signed_in')
    expect(exit_code).not.toBe(0)

    const silent = await finish(setup, bench, { prompt: scripted('Go.', [{ say: '' }]) })
    // Copilot itself reports an error.
    expect([silent.outcome.conclusion, silent.outcome.exit_code]).not.toEqual(['done', 0])

    const session_id = '0a95ce53-630d-4029-be64-1421957870aa'
    const lost = await finish(setup, bench, { prompt: 'Go on.', session_id })
    expect(lost.outcome).toMatchObject({ ended: 'exited', exit_code: 1, session_id: null })
    expect(lost.outcome.message).toContain(session_id)
  })
})
