import { parseJson } from '../../../src-shared/lang/parse-json.ts'
import { isRecord, isText } from '../agent/text.ts'

/** What agents that print events as JSON lines say of their last turn. Some exit with 0 although it failed. */
export interface JsonEnding {
  /** Takes whole lines, or a part of a very long one. */
  push(lines: Uint8Array): void
  /** Why the last turn failed; null if it did not, or if no events of an agent were printed. */
  failure(): string | null
}

type Json = Readonly<Record<string, unknown>>

/** The first event of a session: pi, Codex, Cline, Claude Code and Qwen Code; any event of opencode and its descendants. */
const opensSession = (event: Json): boolean =>
  event['type'] === 'session' ||
  event['type'] === 'thread.started' ||
  isText(event['agentId']) ||
  isText(event['session_id']) ||
  isText(event['sessionID']) ||
  isText(event['sessionId'])

export function createJsonEnding(): JsonEnding {
  const decoder = new TextDecoder()
  let isAgent = false
  let failure: string | null = null
  const read = (line: string): void => {
    if (!line.startsWith('{"')) return
    const event = parseJson(line)
    if (!isRecord(event) || !isText(event['type'])) return
    isAgent ||= opensSession(event)
    const found = failureIn(event)
    if (found !== undefined) failure = found
  }
  return {
    push: (lines) => {
      for (const line of decoder.decode(lines, { stream: true }).split('\n')) read(line.trimEnd())
    },
    failure: () => (isAgent ? failure : null),
  }
}

/** Returns why a turn failed, null for one that did not, undefined for an event that says neither. */
function failureIn(event: Json): string | null | undefined {
  const message = isRecord(event['message']) ? event['message'] : {}
  switch (event['type']) {
    case 'message_end':
    case 'turn_end':
      if (message['role'] !== 'assistant') return undefined
      return message['stopReason'] === 'error' ? (wordsIn(message['errorMessage']) ?? 'The turn failed.') : null
    case 'result':
      return event['is_error'] === true || event['status'] === 'error'
        ? (wordsIn(event['result']) ?? wordsIn(event['error']) ?? 'The turn failed.')
        : null
    case 'run_result':
      return event['finishReason'] === 'error' ? (wordsIn(event['text']) ?? 'The run failed.') : null
    case 'turn.failed':
    case 'error':
      return wordsIn(event['error']) ?? wordsIn(event['message']) ?? 'The turn failed.'
    case 'turn.completed':
    case 'step_finish':
      return null
    default:
      return undefined
  }
}

function wordsIn(value: unknown): string | undefined {
  if (isText(value)) return value
  if (!isRecord(value)) return undefined
  const data = isRecord(value['data']) ? value['data'] : {}
  const words = [data['message'], value['message'], value['name']].find(isText)
  const status = [data['statusCode'], value['code'], value['status']].find((code) => typeof code === 'number')
  return words === undefined || status === undefined || words.includes(String(status)) ? words : `${status} ${words}`
}
