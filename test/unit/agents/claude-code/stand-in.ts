import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { vi } from 'vitest'
import type { TranscriptEntry } from '../../../../src-shared/contract/executions.ts'
import { ExecutionId, TaskId } from '../../../../src-shared/contract/ids.ts'
import type { AgentConfig } from '../../../../src-shared/contract/projects.ts'
import type { AgentLog } from '../../../../src-main/ports/logs.ts'
import type { ExecutionOutcome } from '../../../../src-main/ports/executors.ts'
import type { AgentRun } from '../../../../src-main/agents/definition.ts'
import { configNames } from '../../../../src-main/agents/create-executors.ts'
import { createClaudeCodeDriver } from '../../../../src-main/agents/claude-code/definition.ts'

/** The fixed time of these tests. */
export const at = '2026-11-21T10:00:00.000Z'
export const clock = { now: () => Date.parse(at) }
/** A signal that never aborts. */
export const never = new AbortController().signal

/** Temporary folders for one test; the driver creates its own below `temp`. */
export interface Place extends AsyncDisposable {
  readonly home: string
  readonly cwd: string
  readonly temp: string
}

export async function makePlace(): Promise<Place> {
  const home = await mkdtemp(join(tmpdir(), 'copse-claude-'))
  const place = { home, cwd: join(home, 'worktree'), temp: join(home, 'temp') }
  await mkdir(place.cwd)
  await mkdir(place.temp)
  vi.stubEnv('TMPDIR', place.temp)
  const dispose = async (): Promise<void> => {
    vi.unstubAllEnvs()
    await rm(home, { recursive: true, force: true })
  }
  return { ...place, [Symbol.asyncDispose]: dispose }
}

export interface KeptLog extends AgentLog {
  readonly entries: TranscriptEntry[]
  raws: string
  closed: number
}

/** A log in memory; with `rawFailure`, one that can't be written. */
export function keptLog(rawFailure?: Error): KeptLog {
  const log: KeptLog = {
    entries: [],
    raws: '',
    closed: 0,
    entry: (entry) => void log.entries.push(entry),
    raw: (bytes) => {
      log.raws += Buffer.from(bytes).toString()
      return rawFailure ? Promise.reject(rawFailure) : Promise.resolve()
    },
    close: () => Promise.resolve(void (log.closed += 1)),
  }
  return log
}

/**
 * Writes an executable that stands in for Claude Code; `say(event)` prints an event, `heard` reads stdin by lines.
 */
export async function writeProgram({ home }: Place, body: string): Promise<string> {
  const path = join(await mkdtemp(join(home, 'program-')), 'claude')
  const lines = [
    `#!${process.execPath}`,
    `const say = (event) => process.stdout.write(JSON.stringify(event) + '\\n')`,
    `const heard = require('node:readline').createInterface({ input: process.stdin })`,
    `const result = (text, more) => say({ type: 'result', subtype: 'success', is_error: false, result: text, ...more })`,
    `const words = (text) => say({ type: 'assistant', session_id: 's1', message: { content: [{ type: 'text', text }] } })`,
    body,
  ]
  await writeFile(path, lines.join('\n'), { mode: 0o755 })
  return path
}

/** A program that prints its input and exits. */
export const echo = `heard.once('line', (line) => { words(JSON.parse(line).message.content[0].text); result('x') })`

export function runOf(
  { cwd }: Place,
  about: Partial<AgentRun> & { readonly config: AgentConfig },
): AgentRun & { readonly log: AgentLog } {
  return {
    execution_id: ExecutionId.parse('0198f000-0000-7000-8000-000000000001'),
    task_id: TaskId.parse('0198f000-0000-7000-8000-000000000002'),
    cwd,
    prompt: 'Do it.',
    env: {},
    mcp: null,
    session_id: null,
    timeout_seconds: null,
    protectedNames: configNames,
    log: keptLog(),
    ...about,
  }
}

/** Runs a program to its end. */
export async function finish(
  place: Place,
  body: string,
  about: Partial<AgentRun> = {},
  exitGraceMs = 30_000,
): Promise<{ readonly outcome: ExecutionOutcome; readonly log: KeptLog }> {
  const log = keptLog()
  const driver = createClaudeCodeDriver({ clock, exitGraceMs })
  const config = { command: await writeProgram(place, body), ...about.config }
  const { outcome } = await driver.start(runOf(place, { log, ...about, config }), { signal: never })
  return { outcome: await outcome, log }
}

/** Returns whether a process exists and is no zombie. */
export async function isRunning(pid: string | null): Promise<boolean> {
  const folder = `/proc/${pid}`
  const there = await stat(folder).then(
    () => true,
    () => false,
  )
  return there && !(await readFile(join(folder, 'status'), 'utf8').catch(() => 'State: Z')).includes('State:\tZ')
}
