import { executorProfiles } from '../../../src-shared/contract/executor-profiles.ts'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { present } from '../../helpers/present.ts'
import { readProcessTable } from '../../../src-main/platform/process/process-table.ts'
import { ExecutorError } from '../../../src-main/ports/executors.ts'
import type { ExecutionOutcome, ExecutionRun, Executors } from '../../../src-main/ports/executors.ts'
import type { Logs } from '../../../src-main/ports/logs.ts'
import { createExecutors } from '../../../src-main/agents/create-executors.ts'
import { createLogs } from '../../../src-main/logs/create-logs.ts'
import type { TranscriptEntry } from '../../../src-shared/contract/executions.ts'
import { ExecutionId, ProjectId, TaskId } from '../../../src-shared/contract/ids.ts'
import type { AgentConfig } from '../../../src-shared/contract/projects.ts'
import { watchHeld } from '../../helpers/held-memory.ts'

const project_id = ProjectId.parse('0197a000-0000-7000-8000-000000000001')
const task_id = TaskId.parse('0197a000-0000-7000-8000-000000000002')
const execution_id = ExecutionId.parse('0197a000-0000-7000-8000-000000000003')
const noSignal = { signal: new AbortController().signal }

let dir: string
let logs: Logs
let executors: Executors
let entries: TranscriptEntry[]
let onEntry: (entry: TranscriptEntry) => void
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'command-'))
  logs = createLogs({ dir: join(dir, 'logs') })
  executors = createExecutors()
  entries = []
  onEntry = () => undefined
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(dir, { recursive: true })
})

async function prepare(config: AgentConfig, more: Partial<ExecutionRun> = {}): Promise<ExecutionRun> {
  const log = await logs.openAgent({
    project_id,
    task_id,
    execution_id,
    redact: (text) => text,
    onEntry: (entry) => {
      entries.push(entry)
      onEntry(entry)
    },
  })
  return {
    execution_id,
    task_id,
    cwd: dir,
    prompt: 'Create hello.txt',
    config,
    env: { SVC_EXECUTION_ID: execution_id },
    mcp: null,
    session_id: null,
    timeout_seconds: null,
    log,
    ...more,
  }
}

async function run(config: AgentConfig, more: Partial<ExecutionRun> = {}): Promise<ExecutionOutcome> {
  const running = await executors.start('command', await prepare(config, more), noSignal)
  return await running.outcome
}

/** Resolves with the first entry of this type. */
const nextEntry = (type: TranscriptEntry['type']): Promise<string> =>
  new Promise((resolve) => {
    onEntry = (entry) => {
      if (entry.type === type && 'text' in entry) resolve(entry.text)
    }
  })

const textOf = (type: TranscriptEntry['type']): string =>
  entries.flatMap((entry) => (entry.type === type && 'text' in entry ? entry.text : [])).join('')
const rawLog = (): string => readFileSync(join(dir, 'logs', task_id, `agent-${execution_id}.raw.log`), 'utf8')

async function alive(pid: number): Promise<boolean> {
  return (await readProcessTable()).some((row) => row.pid === pid && !row.zombie)
}

describe('a running command', () => {
  it.each([
    ['pi-401', '401 Incorrect API key provided.', undefined],
    ['pi-429', '429 This step of the script is an error 429.', { resets_at: null }],
  ])('has failed if the events of its agent say so, whatever its exit code: %s', async (name, words, usage_limit) => {
    const recording = join(import.meta.dirname, `../../unit/agents/recordings/refused/${name}.jsonl`)
    const outcome = await run({ command: `cat "${recording}"` })
    expect(outcome).toMatchObject({ ended: 'exited', exit_code: 1, message: `The agent failed. ${words}` })
    expect(outcome.usage_limit).toEqual(usage_limit)
  })

  it('reads the prompt on stdin, works in the worktree, and keeps its output', async () => {
    const outcome = await run({ command: 'cat > got.txt; echo working; echo careful >&2; echo all good' })
    expect(outcome).toEqual({
      ended: 'exited',
      exit_code: 0,
      session_id: null,
      usage: null,
      conclusion: 'done',
      message: 'all good',
    })
    expect(readFileSync(join(dir, 'got.txt'), 'utf8')).toBe('Create hello.txt')
    expect([textOf('prompt'), textOf('stdout'), textOf('stderr')]).toEqual([
      'Create hello.txt',
      'working\nall good\n',
      'careful\n',
    ])
  })

  it('also finds the prompt in a private file that is removed afterwards', async () => {
    await run({ command: 'cat "$SVC_PROMPT_FILE"; stat -c %a "$SVC_PROMPT_FILE"; echo "$SVC_PROMPT_FILE" > where' })
    expect(textOf('stdout')).toBe('Create hello.txt600\n')
    const path = readFileSync(join(dir, 'where'), 'utf8').trim()
    expect([path.startsWith(dir), existsSync(dirname(path))]).toEqual([false, false])
  })

  it('gets its arguments and environment, and nothing of the service', async () => {
    vi.stubEnv('SVC_SECRET_TRACKER', 'hidden')
    const config = {
      command: 'printf "%s|"',
      args: ['a b', '$HOME', '"'],
      env: { MINE: 'yes', SVC_EXECUTION_ID: 'forged' },
    }
    await run(config)
    expect(textOf('stdout')).toBe('a b|$HOME|"|')
    entries = []
    await run({ ...config, command: 'env', args: [] })
    expect(textOf('stdout')).toContain('MINE=yes\n')
    expect(
      textOf('stdout')
        .match(/^SVC_\w+=[^/\n]*$/gm)
        ?.sort(),
    ).toEqual([expect.stringMatching(/^SVC_EXECUTION_ID=0197a000/), expect.stringMatching(/^SVC_PROCESS_TREE=/)])
  })

  it('does not fail if it never reads its prompt', async () => {
    expect(await run({ command: 'exec <&-; echo ok' }, { prompt: 'x'.repeat(1_000_000) })).toMatchObject({
      exit_code: 0,
      message: 'ok',
    })
  })

  it('shows output without terminal codes, and logs it raw', async () => {
    await run({ command: String.raw`printf '\033[1mbold\033[0m €\n10%%\r50%%\r100%%\n'` })
    expect(textOf('stdout')).toBe('bold €\n100%\n')
    expect(rawLog()).toBe('\u001b[1mbold\u001b[0m €\n10%\r50%\r100%\n')
  })

  it('shows whole characters, however slowly they arrive', async () => {
    const command = String.raw`for byte in '\342' '\202' '\254' '\n'; do printf "$byte"; sleep 0.02; done`
    await run({ command })
    expect(textOf('stdout')).toBe('€\n')
  })

  it('shows output while it runs', async () => {
    const run1 = await prepare({ command: 'echo first; read line; cat > /dev/null; sleep 300' })
    const first = nextEntry('stdout')
    const running = await executors.start('command', run1, noSignal)
    expect(await first).toBe('first\n')
    await running.stop()
  })

  it('counts as silent after only white space', async () => {
    expect(await run({ command: 'echo; echo "  "' })).toMatchObject({ conclusion: 'silent', message: null })
  })

  it('leaves no process behind', async () => {
    await run({ command: 'sleep 300 > /dev/null 2>&1 & echo $!' })
    expect(await alive(Number(textOf('stdout')))).toBe(false)
  })
})

describe('a failing command', () => {
  it('reports its exit code and last output', async () => {
    expect(await run({ command: 'echo fine; echo "no such key" >&2; exit 4' })).toMatchObject({
      ended: 'exited',
      exit_code: 4,
      message: 'The agent failed (exit 4). no such key',
    })
    expect(textOf('error')).toBe('The agent failed (exit 4). no such key')
  })

  it('reports a command that was not found', async () => {
    const outcome = await run({ command: 'no-such-agent --go' })
    expect(outcome.exit_code).toBe(127)
    expect(outcome.message).toMatch(/^The command was not found\..*no-such-agent/)
  })

  it('is refused without a command, and closes its log', async () => {
    const prepared = await prepare({ command: '  ' })
    const failure = await executors.start('command', prepared, noSignal).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(ExecutorError)
    expect((failure as ExecutorError).code).toBe('not_configured')
    expect(await logs.read(task_id, `agent-${execution_id}.jsonl`, 0, 10)).toMatchObject({ complete: true })
  })

  it('is refused if the worktree is gone', async () => {
    const prepared = await prepare({ command: 'true' }, { cwd: join(dir, 'gone') })
    await expect(executors.start('command', prepared, noSignal)).rejects.toMatchObject({ code: 'spawn_failed' })
  })

  it('is reported by the signal that killed it', async () => {
    expect(await run({ command: 'kill -9 $$' })).toMatchObject({ ended: 'exited', exit_code: 137 })
  })
})

describe('a command that is ended early', () => {
  it('is stopped with all its processes', async () => {
    const prepared = await prepare({ command: 'sleep 300 & echo $!; wait' })
    const printed = nextEntry('stdout')
    const running = await executors.start('command', prepared, noSignal)
    const pid = Number(await printed)
    await running.stop()
    expect(await running.outcome).toMatchObject({ ended: 'stopped', exit_code: 143, message: 'It was stopped.' })
    expect(await alive(pid)).toBe(false)
    expect(await logs.read(task_id, `agent-${execution_id}.jsonl`, 0, 9_999)).toMatchObject({ complete: true })
  })

  it('is ended at its time limit', async () => {
    const outcome = await run({ command: 'sleep 300' }, { timeout_seconds: 0.2 })
    expect(outcome).toMatchObject({ ended: 'timed_out', message: 'Stopped at the time limit of 0.2 s.' })
  })

  it('takes no input', async () => {
    const running = await executors.start('command', await prepare({ command: 'sleep 300' }), noSignal)
    await expect(running.input('hello')).rejects.toMatchObject({ code: 'input_closed' })
    await running.stop()
  })

  it('does not start if it was already cancelled', async () => {
    const prepared = await prepare({ command: 'touch started' })
    await expect(executors.start('command', prepared, { signal: AbortSignal.abort() })).rejects.toThrow()
    expect(existsSync(join(dir, 'started'))).toBe(false)
  })
})

it('logs a flood at the pace of the disk, completely', async () => {
  // Otherwise the test itself would collect all of it.
  onEntry = () => (entries = [])
  const flood = 'yes "a line of output" | head -c 64000000; echo; echo the end'
  const { result, isOver } = await watchHeld(32 * 1024 * 1024, () => run({ command: flood }))
  expect(result).toMatchObject({ exit_code: 0, message: 'the end' })
  expect(statSync(join(dir, 'logs', task_id, `agent-${execution_id}.raw.log`)).size).toBe(64_000_009)
  expect(isOver).toBe(false)
})

describe('the executors', () => {
  it('run locally or remotely', () => {
    const profiles = ['claude-code', 'command', 'external'] as const
    expect(profiles.map((profile) => executors.location(profile))).toEqual(['local', 'local', 'remote'])
  })

  it('do not start a remote one here', async () => {
    await expect(executors.start('external', await prepare({}), noSignal)).rejects.toMatchObject({
      code: 'not_configured',
    })
  })

  it('report whether they are installed', async () => {
    const found = await executors.detect(noSignal)
    expect(found.map((one) => one.executor)).toEqual(executorProfiles)
    const shell = found.find((one) => one.executor === 'command')
    expect(shell).toMatchObject({ installed: true, path: '/bin/sh' })
  })

  it('end processes that a killed service left', async () => {
    const printed = nextEntry('stdout')
    const running = await executors.start('command', await prepare({ command: 'sleep 300 & echo $!; wait' }), noSignal)
    const pid = Number(await printed)
    await executors.reap(running.process, execution_id)
    expect([await alive(pid), await alive(present(running.process).pid)]).toEqual([false, false])
    await running.outcome
  })
})
