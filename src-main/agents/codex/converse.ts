import type { AgentRun } from '../definition.ts'
import type { AgentSession, AgentSessionListener } from '../agent/agent-profile.ts'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'
import { readJsonLines } from '../agent/read-json-lines.ts'
import { createRunState, toRunResult, recordToolUse, recordFailure, recordMessage } from '../agent/run-state.ts'
import type { RunState } from '../agent/run-state.ts'
import { clip, isRecord } from '../agent/text.ts'
import { describeItem, resultOfItem } from './describe-item.ts'
import { readCodexEvent } from './stream-events.ts'
import type { CodexEvent, CodexItem } from './stream-events.ts'

/** Codex takes its prompt over stdin up to the end and prints events; it is asked once per run. */
export function converseWithCodex(run: AgentRun, listener: AgentSessionListener): AgentSession {
  const story = createRunState(null)
  const scribe = createScribe(run, story, listener)
  let heard = false
  const reader = readJsonLines({
    ...listener,
    onJson: (json) => {
      const event = readCodexEvent(json)
      if (event === 'garbage') return false
      heard = true
      if (event !== null) scribe(event)
      return true
    },
  })
  return {
    ...reader,
    begin: (prompt) => {
      // A prompt that can't be delivered has no other cause than an early exit, which tells more.
      void listener.write(prompt).catch(() => undefined)
      listener.closeInput()
    },
    send: null,
    result: (stderr) => {
      const result = toRunResult(story, /^Error:[^]*/m.exec(stderr)?.[0] ?? stderr)
      // It refuses a session that is not there any more before it says anything.
      const gone = !heard && stderr !== ''
      return { ...result, session_id: result.session_id ?? (gone ? null : run.session_id) }
    },
  }
}

/** Writes the transcript of the events, and the story that they tell. */
function createScribe(
  { cwd, session_usage }: AgentRun,
  story: RunState,
  listener: AgentSessionListener,
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
      // A warning: the turn goes on.
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
        return listener.onSession(event.thread_id)
      case 'turn.started':
        return listener.onTurn()
      case 'item.started':
        return begin(event.item)
      case 'item.updated':
        return
      case 'item.completed':
        return complete(event.item)
      case 'error':
        return tellError(wordsOf(event.message))
      case 'turn.failed':
        story.ended = true
        recordFailure(story, wordsOf(event.error.message))
        tellError(wordsOf(event.error.message))
        return listener.onTurnEnd(0)
      case 'turn.completed': {
        story.ended = true
        const { input_tokens = 0, output_tokens = 0 } = event.usage ?? {}
        // It tells the sum over all turns of the session, also those of earlier runs.
        const { input_tokens: inBefore = 0, output_tokens: outBefore = 0 } = session_usage ?? {}
        story.usage = {
          input_tokens: Math.max(0, input_tokens - inBefore),
          output_tokens: Math.max(0, output_tokens - outBefore),
          cost_usd: null,
        }
        const cached = Math.min(story.usage.input_tokens, event.usage?.cached_input_tokens ?? 0)
        listener.onEntry({ type: 'usage', at: at(), ...story.usage, ...(cached > 0 && { cached_tokens: cached }) })
        return listener.onTurnEnd(0)
      }
    }
  }
}

/** The answer of the API stands as JSON in the message. */
function wordsOf(message: string): string {
  const json = parseJson(message)
  const error = isRecord(json) && isRecord(json['error']) ? json['error'] : json
  const words = isRecord(error) ? error['message'] : undefined
  return typeof words === 'string' ? words : message
}
