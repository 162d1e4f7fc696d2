import type { Usage } from '../../../src-shared/contract/executions.ts'
import type { RunResult } from './agent-profile.ts'
import { endsWithQuestion, messageOf, tellsLimit } from './read-words.ts'

/** What a run has said and done so far, as far as its end is judged by it. */
export interface RunStory {
  session_id: string | null
  usage: Usage | null
  /** It used a tool. */
  acted: boolean
  /** It came to the end of a turn. */
  ended: boolean
  /** Its latest words, when nothing was done after them. */
  closingWords: string | null
  /** Its latest words, whatever came after them. */
  lastWords: string | null
  /** Why its last turn failed. */
  failure: { readonly text: string; readonly limit: boolean } | null
}

/** A run of which nothing has been heard. */
export const beginStory = (session_id: string | null): RunStory => ({
  session_id,
  usage: null,
  acted: false,
  ended: false,
  closingWords: null,
  lastWords: null,
  failure: null,
})

/** It said something to people. */
export function noteWords(story: RunStory, text: string): void {
  const words = text.trim()
  if (words !== '') story.closingWords = story.lastWords = words
}

/** It used a tool: what it said before is not its last word any more. */
export function noteDeed(story: RunStory): void {
  story.acted = true
  story.closingWords = null
}

/** Its turn failed. `limit`: by a limit that is told in another way than by the words. */
export function noteFailure(story: RunStory, text: string, limit = tellsLimit(text)): void {
  story.failure = { text, limit }
}

/** What the story comes to. `stderr` is what tells more of a run that never came to the end of a turn. */
export function concludeStory(story: RunStory, stderr: string): RunResult {
  const { session_id, usage, failure } = story
  const unheard = story.ended || story.lastWords !== null ? '' : stderr.trim()
  const words = failure?.text ?? story.lastWords ?? unheard
  return {
    session_id,
    usage,
    failed: failure !== null,
    conclusion: conclusionOf(story, unheard),
    message: messageOf(words),
  }
}

function conclusionOf(story: RunStory, stderr: string): RunResult['conclusion'] {
  const { failure, lastWords, closingWords, acted } = story
  if (failure?.limit === true || (failure === null && stderr !== '' && tellsLimit(stderr))) return 'limit'
  if (lastWords === null && !acted) return 'silent'
  return failure === null && closingWords !== null && endsWithQuestion(closingWords) ? 'question' : 'done'
}
