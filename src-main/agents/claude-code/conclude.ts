import type { ExecutionOutcome } from '../../ports/executors.ts'
import { endsWithQuestion, clipMessage as sentenceOf, isLimitError } from '../agent/classify-output.ts'
import type { RunState } from './reduce-run-state.ts'

const limitSubtypes: ReadonlySet<string> = new Set(['error_max_turns', 'error_max_budget_usd'])
const limitErrors: ReadonlySet<string> = new Set(['rate_limit', 'billing_error'])
const tooManyRequests = 429

/**
 * Returns the result of a run, judged by messages and tool use, with a sentence for people. `stderr` is the end of
 * stderr.
 */
export function claudeRunResult(
  facts: RunState,
  stderr: string,
): Pick<ExecutionOutcome, 'conclusion' | 'message' | 'usage_limit' | 'windows'> {
  const conclusion = conclusionOf(facts)
  const isOwn = facts.result !== null && limitSubtypes.has(facts.result.subtype)
  const windows = Object.values(facts.windows)
  return {
    conclusion,
    message: failureMessage(facts, stderr),
    ...(conclusion === 'limit' && !isOwn && { usage_limit: { resets_at: facts.resets_at } }),
    ...(windows.length > 0 && { windows }),
  }
}

function conclusionOf(facts: RunState): ExecutionOutcome['conclusion'] {
  if (isLimit(facts)) return 'limit'
  if (facts.lastMessage === null && !facts.acted) return 'silent'
  const asks = facts.result?.failed !== true && facts.finalMessage !== null && endsWithQuestion(facts.finalMessage)
  if (asks) return 'question'
  return facts.acted ? 'done' : 'talked'
}

function isLimit(facts: RunState): boolean {
  const { result, api_error: apiError } = facts
  if (result !== null && limitSubtypes.has(result.subtype)) return true
  if (apiError !== null && (limitErrors.has(apiError.kind) || isLimitError(apiError.text))) return true
  if (result?.failed !== true) return false
  return (
    result.api_error_status === tooManyRequests ||
    facts.rate_limit_rejected ||
    (result.text !== null && isLimitError(result.text))
  )
}

function failureMessage(facts: RunState, stderr: string): string | null {
  if (facts.unauthorized)
    return 'Claude Code is no longer signed in (401). Run `claude` once to sign in again, or renew its key.'
  const { result } = facts
  const failure = (result?.failed === true ? result.text : null) ?? facts.api_error?.text ?? null
  const words = failure ?? facts.lastMessage ?? (result === null ? stderr.trim() : '')
  return sentenceOf(words)
}
