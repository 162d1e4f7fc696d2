import type { ExecutionOutcome } from '../../engine/ports/executors.ts'
import { endsWithQuestion, messageOf as sentenceOf, tellsLimit } from '../agent/read-words.ts'
import type { RunFacts } from './track-run.ts'

const limitSubtypes: ReadonlySet<string> = new Set(['error_max_turns', 'error_max_budget_usd'])
const limitErrors: ReadonlySet<string> = new Set(['rate_limit', 'billing_error'])
const tooManyRequests = 429

/** What the words and deeds of a run show, and a sentence for people. `stderr` is its end. */
export function conclude(facts: RunFacts, stderr: string): Pick<ExecutionOutcome, 'conclusion' | 'message'> {
  return { conclusion: conclusionOf(facts), message: messageOf(facts, stderr) }
}

function conclusionOf(facts: RunFacts): ExecutionOutcome['conclusion'] {
  if (isLimit(facts)) return 'limit'
  if (facts.last_words === null && !facts.acted) return 'silent'
  const asks = facts.result?.failed !== true && facts.closing_words !== null && endsWithQuestion(facts.closing_words)
  return asks ? 'question' : 'done'
}

function isLimit(facts: RunFacts): boolean {
  const { result, api_error: apiError } = facts
  if (result !== null && limitSubtypes.has(result.subtype)) return true
  if (apiError !== null && (limitErrors.has(apiError.kind) || tellsLimit(apiError.text))) return true
  if (result?.failed !== true) return false
  return (
    result.api_error_status === tooManyRequests ||
    facts.rate_limit_rejected ||
    (result.text !== null && tellsLimit(result.text))
  )
}

function messageOf(facts: RunFacts, stderr: string): string | null {
  const { result } = facts
  const failure = (result?.failed === true ? result.text : null) ?? facts.api_error?.text ?? null
  const words = failure ?? facts.last_words ?? (result === null ? stderr.trim() : '')
  return sentenceOf(words)
}
