import { join } from 'node:path'
import type { AccountWindow } from '../../../src-shared/contract/accounts.ts'
import type { AgentRun } from '../definition.ts'
import type { AgentSession, AgentSessionListener, RunResult } from '../agent/agent-profile.ts'
import { wordsOfError } from '../agent/classify-output.ts'
import { readJsonLines } from '../agent/read-json-lines.ts'
import { createRunState, toRunResult, recordToolUse, recordFailure, recordMessage } from '../agent/run-state.ts'
import type { RunState } from '../agent/run-state.ts'
import { clip } from '../agent/text.ts'
import { homeOf } from '../agent/find-program.ts'
import { describeItem, resultOfItem } from './describe-item.ts'
import { readRollout, type Rollout, type SessionTokens } from './rollout.ts'
import { readCodexEvent } from './stream-events.ts'
import type { CodexEvent, CodexItem } from './stream-events.ts'

/** Codex reads its whole prompt from stdin and prints events; each run has one prompt. */
export function converseWithCodex(run: AgentRun, listener: AgentSessionListener): AgentSession {
  const story = createRunState(null)
  const spending = createSpending(run, story, listener)
  const scribe = createScribe(run, story, listener, spending)
  let hasEvents = false
  const reader = readJsonLines({
    ...listener,
    onJson: (json) => {
      const event = readCodexEvent(json)
      if (event === 'garbage') return false
      hasEvents = true
      if (event !== null) scribe(event)
      return true
    },
  })
  return {
    ...reader,
    end: () => {
      spending.end()
      reader.end()
    },
    begin: (prompt) => {
      // A prompt can't be delivered only if the process exited early, which its exit explains better.
      void listener.write(prompt).catch(() => undefined)
      listener.closeInput()
    },
    send: null,
    result: (stderr) => {
      const result = toRunResult(story, /^Error:[^]*/m.exec(stderr)?.[0] ?? stderr)
      // Codex refuses a session that no longer exists before it prints anything.
      const gone = !hasEvents && stderr !== ''
      return {
        ...result,
        ...limitsOf(result, spending.windows()),
        session_id: result.session_id ?? (gone ? null : run.session_id),
      }
    },
  }
}

/** Writes events to the transcript and updates the run state. */
function createScribe(
  { cwd }: AgentRun,
  story: RunState,
  listener: AgentSessionListener,
  spending: Spending,
): (event: CodexEvent) => void {
  const told = new Set<string>()
  let lastError = ''
  const at = (): string => listener.now()
  const tellError = (text: string): void => {
    if (text === lastError) return
    lastError = text
    listener.onEntry({ type: 'error', at: at(), text: clip(text) })
  }
  const begin = (item: CodexItem): void => {
    const call = told.has(item.id) ? null : describeItem(item, cwd)
    if (call === null) return
    told.add(item.id)
    recordToolUse(story)
    listener.onEntry({ type: 'tool_call', at: at(), id: item.id, ...call })
  }
  const complete = (item: CodexItem): void => {
    const text = item.text ?? ''
    if (item.type === 'agent_message') {
      recordMessage(story, text)
      if (text.trim() !== '') listener.onEntry({ type: 'message', at: at(), text: clip(text) })
    } else if (item.type === 'reasoning') {
      if (text.trim() !== '') listener.onEntry({ type: 'thinking', at: at(), text: clip(text) })
    } else if (item.type === 'error') {
      // A warning: the turn continues.
      tellError(item.message ?? text)
    } else {
      begin(item)
      if (told.has(item.id)) listener.onEntry({ type: 'tool_result', at: at(), id: item.id, ...resultOfItem(item) })
    }
  }
  return (event) => {
    switch (event.type) {
      case 'thread.started':
        story.session_id = event.thread_id
        spending.begin(event.thread_id)
        return listener.onSession(event.thread_id)
      case 'turn.started':
        return listener.onTurn()
      case 'item.started':
        spending.look()
        return begin(event.item)
      case 'item.updated':
        return
      case 'item.completed':
        spending.look()
        return complete(event.item)
      case 'error':
        return tellError(wordsOfError(event.message))
      case 'turn.failed':
        spending.look()
        story.ended = true
        recordFailure(story, wordsOfError(event.error.message))
        tellError(wordsOfError(event.error.message))
        return listener.onTurnEnd(0)
      case 'turn.completed': {
        story.ended = true
        const { input_tokens = 0, output_tokens = 0, cached_input_tokens = 0 } = event.usage ?? {}
        spending.endTurn({ input_tokens, output_tokens, cached_tokens: cached_input_tokens })
        return listener.onTurnEnd(0)
      }
    }
  }
}

/** Usage of a run: Codex reports the sum over all turns of the session, earlier runs included. */
interface Spending {
  begin(thread_id: string): void
  /** Reports usage of requests since the last call. */
  look(): void
  endTurn(sum: SessionTokens): void
  end(): void
  windows(): readonly AccountWindow[]
}

/** The interval within which a long request without output is seen. */
const lookEveryMs = 1_000

function createSpending(
  { session_id, session_usage, config, env }: AgentRun,
  story: RunState,
  listener: AgentSessionListener,
): Spending {
  const before = {
    input_tokens: session_usage?.input_tokens ?? 0,
    output_tokens: session_usage?.output_tokens ?? 0,
  }
  const variables = { ...process.env, ...config.env, ...env }
  let rollout: Rollout | null = null
  let timer: NodeJS.Timeout | undefined
  let told: SessionTokens = { input_tokens: 0, output_tokens: 0, cached_tokens: 0 }

  const tell = (sum: SessionTokens, turns: number): void => {
    const input_tokens = Math.max(0, sum.input_tokens - before.input_tokens)
    const output_tokens = Math.max(0, sum.output_tokens - before.output_tokens)
    const more = {
      input_tokens: Math.max(0, input_tokens - told.input_tokens),
      output_tokens: Math.max(0, output_tokens - told.output_tokens),
    }
    if (more.input_tokens + more.output_tokens === 0) return
    const cached = Math.min(more.input_tokens, Math.max(0, sum.cached_tokens - told.cached_tokens))
    told = { input_tokens, output_tokens, cached_tokens: sum.cached_tokens }
    story.usage = { input_tokens, output_tokens, cost_usd: null }
    const model = rollout?.model() ?? null
    listener.onEntry({
      type: 'usage',
      at: listener.now(),
      ...more,
      cost_usd: null,
      ...(cached > 0 && { cached_tokens: cached }),
      ...(turns > 0 && { turns }),
      ...(model !== null && { model }),
    })
  }
  const look = () => rollout?.look().forEach((sum) => tell(sum, 1))
  return {
    begin: (thread_id) => {
      const folder = variables['CODEX_HOME'] ?? join(homeOf(variables), '.codex')
      rollout = readRollout(folder, thread_id, session_id !== null)
      rollout.look()
      timer ??= setInterval(look, lookEveryMs).unref()
    },
    look,
    endTurn: (sum) => {
      look()
      tell(sum, 0)
    },
    end: () => {
      clearInterval(timer)
      look()
    },
    windows: () => rollout?.windows() ?? [],
  }
}

/** An exhausted window's reset is when its account works again. */
function limitsOf(result: RunResult, windows: readonly AccountWindow[]): Pick<RunResult, 'windows' | 'usage_limit'> {
  if (windows.length === 0) return {}
  const resets = windows.flatMap(({ used, resets_at }) => ((used ?? 0) >= 1 ? (resets_at ?? []) : []))
  const resets_at = result.usage_limit?.resets_at ?? resets.toSorted().at(-1) ?? null
  return { windows, ...(result.usage_limit && { usage_limit: { resets_at } }) }
}
