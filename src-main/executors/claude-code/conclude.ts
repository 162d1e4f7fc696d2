import type { ExecutionOutcome } from '../../engine/ports.ts'
import type { RunFacts } from './track-run.ts'

const limitSubtypes: ReadonlySet<string> = new Set(['error_max_turns', 'error_max_budget_usd'])
const limitErrors: ReadonlySet<string> = new Set(['rate_limit', 'billing_error'])
const tooManyRequests = 429
/** Versions before 2.1 tell a used-up subscription in words only; the model's own words are never looked at. */
const limitWords =
  /\b(?:usage|session|weekly|rate|spending|hour|opus) limit\b|\blimit reached\b|hit your (?:\w+ )*limit\b/i
const maxMessage = 2_000

/** What the words and deeds of a run show, and a sentence for people. `stderr` is its end. */
export function conclude(facts: RunFacts, stderr: string): Pick<ExecutionOutcome, 'conclusion' | 'message'> {
  return { conclusion: conclusionOf(facts), message: messageOf(facts, stderr) }
}

/** The exit code proves little; a failed result with exit code 0 is a failure all the same. */
export function exitCodeOf(facts: RunFacts, exitCode: number): number {
  return exitCode === 0 && facts.result?.failed === true ? 1 : exitCode
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
  if (apiError !== null && (limitErrors.has(apiError.kind) || limitWords.test(apiError.text))) return true
  if (result?.failed !== true) return false
  return (
    result.api_error_status === tooManyRequests ||
    facts.rate_limit_rejected ||
    (result.text !== null && limitWords.test(result.text))
  )
}

/** Only the very end counts, with the marks that may close it: a question further up is mostly rhetoric. */
const endsWithQuestion = (words: string): boolean => /[?？؟][*_`"'”’)\]]*$/.test(words.trimEnd())

function messageOf(facts: RunFacts, stderr: string): string | null {
  const { result } = facts
  const failure = (result?.failed === true ? result.text : null) ?? facts.api_error?.text ?? null
  const words = failure ?? facts.last_words ?? (result === null ? stderr.trim() : '')
  return words === '' ? null : words.length > maxMessage ? `${words.slice(0, maxMessage - 1)}…` : words
}
