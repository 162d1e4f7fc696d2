import { failureSentences } from '../../src-shared/contract/run-failure-sentences.ts'
import type { ErrorAnnotation } from '../../src-shared/contract/tasks.ts'
import { limitAmount } from '../../src-shared/contract/limit-names.ts'
import { timeOfDay } from './time-of-day.ts'

/** Describes in one line which part of a task failed, and why. The annotation's message has the details. */
export function failureText(annotation: ErrorAnnotation): string {
  const cause = causeOf(annotation.message)
  switch (annotation.type) {
    case 'execution_failed':
      if (annotation.retry_at !== undefined) return `Stalled: tried again at ${timeOfDay(annotation.retry_at)}`
      return annotation.failure === undefined || annotation.failure === 'failed'
        ? `Agent failed: ${cause}`
        : failureSentences[annotation.failure].replace(/\.$/, '')
    case 'execution_lost':
      return `Agent lost: ${cause}`
    case 'limit_reached':
      return annotation.limit === undefined
        ? cause
        : `Limit of ${limitAmount(annotation.limit, annotation.allowed ?? 0)} reached`
    case 'usage_limit':
      if (annotation.retry_at === undefined) return cause
      return `Usage limit: ${annotation.doubtful === true ? 'tried again' : 'continues'} at ${timeOfDay(annotation.retry_at)}`
    case 'execution_paused':
      return 'Stopped'
    case 'execution_incomplete':
      if (annotation.reason === 'nothing_done') return 'Agent changed nothing'
      return annotation.reason === 'turn_limit' ? `Turn limit: ${cause}` : cause
    case 'hook_failed':
      return hookText(annotation)
    case 'merge_conflict':
      // A conflict of now is said by `base_conflict`; without hunks it was none, and the message has the cause.
      return annotation.hunks === undefined ? cause : 'Merge failed'
    case 'retry_budget_exhausted':
      return annotation.recovery_actions.includes('fix_again') ? cause : 'Too many failed reviews'
    case 'dependency_failed':
      return 'A task it depends on was cancelled'
    case 'workspace_error':
    case 'workspace_reset_required':
    case 'nested_repository':
    case 'submodule_not_pushed':
    case 'work_elsewhere':
    case 'needs_person':
    case 'pull_request_closed':
    case 'pull_request_merged':
      return cause
    case 'pull_request_diverged':
      return 'Others pushed something else'
  }
}

function hookText({ message, stderr_summary, hook }: ErrorAnnotation): string {
  const output = stderr_summary === undefined ? undefined : lastLine(stderr_summary)
  if (output !== undefined) return `Hook failed: ${output}`
  // The message itself names the hook.
  return hook === undefined && !message.startsWith('The hook') ? firstLine(message) : `Hook failed: ${causeOf(message)}`
}

/** Returns the last line of a program's output; otherwise how it ended. */
function causeOf(message: string): string {
  const end = endCause(message)
  if (end !== null) return end
  const hook = /^The hook before work failed \((.+?)\): (.*?)(?:\.|$)/.exec(message)
  if (hook) return `${hook[2] ?? ''}, ${hook[1] ?? ''}`
  return firstLine(message).replace(/^[\w.-]+ failed at \w+: /, '')
}

/** Returns a failed agent's last output, or its exit code; null if the message is of another kind. */
export function endCause(message: string): string | null {
  const end = /^The agent failed (?:\((exit \d+)\)|with (exit code \d+|a signal))\.(?: (.+))?$/s.exec(message)
  return end?.[3]?.trim() ?? end?.[1] ?? end?.[2] ?? null
}

const linesOf = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
const firstLine = (text: string): string => linesOf(text)[0] ?? text
const lastLine = (text: string): string | undefined => linesOf(text).at(-1)
