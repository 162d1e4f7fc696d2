import { readFileSync } from 'node:fs'
import type { TranscriptEntry } from '../../../src-shared/contract/executions.ts'
import { ExecutionId, TaskId } from '../../../src-shared/contract/ids.ts'
import type { AgentSession, AgentSessionListener, RunResult } from '../../../src-main/agents/agent/agent-profile.ts'
import type { AgentRun } from '../../../src-main/agents/definition.ts'
import { configNames } from '../../../src-main/agents/create-executors.ts'

export const at = '2026-11-21T10:00:00.000Z'

/** The output lines of a real agent, recorded against the scripted model server. */
export const recordingOf = (name: string): string[] =>
  readFileSync(new URL(`recordings/${name}.jsonl`, import.meta.url), 'utf8')
    .trim()
    .split('\n')

export interface Played {
  readonly entries: readonly TranscriptEntry[]
  readonly result: RunResult
  readonly sessions: readonly string[]
  /** The lines that were sent to the agent. */
  readonly written: readonly string[]
}

/** A run of a recording. */
export const runOf = (about: Partial<AgentRun> = {}): AgentRun => ({
  execution_id: ExecutionId.parse('0198f000-0000-7000-8000-000000000001'),
  task_id: TaskId.parse('0198f000-0000-7000-8000-000000000002'),
  cwd: '/somewhere/tree',
  prompt: 'Do it.',
  config: {},
  env: {},
  mcp: null,
  session_id: null,
  timeout_seconds: null,
  protectedNames: configNames,
  log: { entry: () => undefined, raw: () => Promise.resolve(), close: () => Promise.resolve() },
  ...about,
})

/**
 * Plays an agent's output to its reader, no sooner than the agent could have written it. A line `@2` waits until
 * question 2 was asked. A question of the agent's own is answered before the next line. `cut` chunks the bytes.
 */
export async function play(
  lines: readonly string[],
  converse: (run: AgentRun, listener: AgentSessionListener) => AgentSession,
  run: AgentRun = runOf(),
  cut: (bytes: Uint8Array) => readonly Uint8Array[] = (bytes) => [bytes],
): Promise<Played> {
  const entries: TranscriptEntry[] = []
  const sessions: string[] = []
  const written: string[] = []
  const asked = new Map<unknown, PromiseWithResolvers<void>>()
  const question = (id: unknown): PromiseWithResolvers<void> => {
    const known = asked.get(id) ?? Promise.withResolvers<void>()
    asked.set(id, known)
    return known
  }
  const ended = Promise.withResolvers<void>()
  const dialogue = converse(run, {
    onEntry: (entry) => void entries.push(entry),
    now: () => at,
    onSession: (id) => void sessions.push(id),
    onTurn: () => undefined,
    onTurnEnd: () => ended.resolve(),
    write: (text) => {
      written.push(...text.trimEnd().split('\n'))
      const message = text.startsWith('{') ? (JSON.parse(text) as { id?: unknown; method?: string }) : {}
      if (message.method !== undefined) question(message.id).resolve()
      else if (message.id !== undefined) question(`answer ${String(message.id)}`).resolve()
      return Promise.resolve()
    },
    closeInput: () => undefined,
  })
  dialogue.begin(run.prompt)
  for (const [index, line] of lines.entries()) {
    // The lines before an answer were written after its question.
    const answered = lines
      .slice(index)
      .map(answeredBy)
      .find((id) => id !== null)
    if (answered !== undefined) await question(answered).promise
    const awaited = /^@(\d+)$/.exec(line)?.[1]
    if (awaited !== undefined) {
      await question(Number(awaited)).promise
      continue
    }
    for (const bytes of cut(Buffer.from(`${line}\n`))) dialogue.push(bytes)
    const own = askedBy(line)
    if (own !== null) await question(`answer ${String(own)}`).promise
  }
  dialogue.end()
  await ended.promise
  return { entries, result: dialogue.result(''), sessions, written }
}

/** Returns the ID of the question that the agent asks in a line; null if it asks none. */
function askedBy(line: string): unknown {
  const message = JSON.parse(line.startsWith('{') ? line : '{}') as { id?: unknown; method?: string }
  return message.method === undefined ? null : (message.id ?? null)
}

/** Returns the ID of the question that a line answers; null if it is no answer. */
function answeredBy(line: string): unknown {
  const message = JSON.parse(line.startsWith('{') ? line : '{}') as { id?: unknown; method?: string; jsonrpc?: string }
  return message.jsonrpc !== undefined && message.method === undefined ? (message.id ?? null) : null
}
