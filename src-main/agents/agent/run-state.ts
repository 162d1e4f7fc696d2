import type { Usage } from '../../../src-shared/contract/executions.ts'
import type { RunResult } from './agent-profile.ts'
import { endsWithQuestion, clipMessage, isLimitError } from './classify-output.ts'

/** What a run has said and done so far, as far as its end is judged by it. */
export interface RunState {
  session_id: string | null
  usage: Usage | null
  /** It used a tool. */
  acted: boolean
  /** It came to the end of a turn. */
  ended: boolean
  /** Its latest words, when nothing was done after them. */
  finalMessage: string | null
  /** Its latest words, whatever came after them. */
  lastMessage: string | null
  /** Why its last turn failed. */
  failure: { readonly text: string; readonly limit: boolean } | null
}

/** A run of which nothing has been heard. */
export const createRunState = (session_id: string | null): RunState => ({
  session_id,
  usage: null,
  acted: false,
  ended: false,
  finalMessage: null,
  lastMessage: null,
  failure: null,
})

/** It said something to people. */
export function recordMessage(story: RunState, text: string): void {
  const words = text.trim()
  if (words !== '') story.finalMessage = story.lastMessage = words
}

/** It used a tool: what it said before is not its last word any more. */
export function recordToolUse(story: RunState): void {
  story.acted = true
  story.finalMessage = null
}

/** Its turn failed. `limit`: by a limit that is told in another way than by the words. */
export function recordFailure(story: RunState, text: string, limit = isLimitError(text)): void {
  story.failure = { text, limit }
}

/** What the story comes to. `stderr` is what tells more of a run that never came to the end of a turn. */
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
