import type { Usage } from '../../../src-shared/contract/executions.ts'
import type { RunResult } from './agent-profile.ts'
import { endsWithQuestion, clipMessage, isLimitError } from './classify-output.ts'

/** The parts of a run's history by which its result is judged. */
export interface RunState {
  session_id: string | null
  usage: Usage | null
  /** The agent used a tool. */
  acted: boolean
  /** The agent finished a turn. */
  ended: boolean
  /** The latest message, unless a tool call followed it. */
  finalMessage: string | null
  /** The latest message, whatever followed it. */
  lastMessage: string | null
  /** Why its last turn failed. */
  failure: { readonly text: string; readonly limit: boolean } | null
}

/** Creates the state of a run without any events. */
export const createRunState = (session_id: string | null): RunState => ({
  session_id,
  usage: null,
  acted: false,
  ended: false,
  finalMessage: null,
  lastMessage: null,
  failure: null,
})

/** Records a message to people. */
export function recordMessage(story: RunState, text: string): void {
  const words = text.trim()
  if (words !== '') story.finalMessage = story.lastMessage = words
}

/** Records a tool call; the message before it is no longer the final one. */
export function recordToolUse(story: RunState): void {
  story.acted = true
  story.finalMessage = null
}

/** Records a failed turn. `limit` overrides what the text says of a usage limit. */
export function recordFailure(story: RunState, text: string, limit = isLimitError(text)): void {
  story.failure = { text, limit }
}

/** Returns the run's result. `stderr` explains a run that never finished a turn. */
export function toRunResult(story: RunState, stderr: string): RunResult {
  const { session_id, usage, failure } = story
  const unheard = story.ended || story.lastMessage !== null ? '' : stderr.trim()
  const conclusion = conclusionOf(story, unheard)
  const words = failure?.text ?? story.lastMessage ?? unheard
  return {
    session_id,
    usage,
    failed: failure !== null,
    conclusion,
    message: clipMessage(words),
    ...(conclusion === 'limit' && isLimitError(words) && { usage_limit: { resets_at: null } }),
  }
}

function conclusionOf(story: RunState, stderr: string): RunResult['conclusion'] {
  const { failure, lastMessage, finalMessage, acted } = story
  if (failure?.limit === true || (failure === null && stderr !== '' && isLimitError(stderr))) return 'limit'
  if (lastMessage === null && !acted) return 'silent'
  if (failure === null && finalMessage !== null && endsWithQuestion(finalMessage)) return 'question'
  return acted ? 'done' : 'talked'
}
