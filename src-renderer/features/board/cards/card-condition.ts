import type { ErrorAnnotation, Task } from '../../../../src-shared/contract/tasks.ts'
import type { WorkflowState } from '../../../../src-shared/contract/workflow-definition.ts'

import { checkedText, checkFailedText, planText } from '../../../model/decision.ts'
import { failureText } from '../../../formatters/failure-text.ts'

/** The sentence below a card's title and its glyph. */
export interface CardCondition {
  readonly glyph: 'failed' | 'barrier' | 'gate' | 'clock' | 'timed-out' | null
  readonly text: string
  /** The full text if `text` is shortened. */
  readonly full?: string
  /** Whether a person must act. */
  readonly needsYou: boolean
}

interface CardFacts {
  readonly task: Task
  readonly state: WorkflowState | undefined
  /** The open request of the agent. */
  readonly asks: string | null
  /** Returns the names of all approvers; called only if approved work waits. */
  readonly approvers?: () => readonly string[]
}

const glyphOfAnnotation: Readonly<Record<ErrorAnnotation['type'], CardCondition['glyph']>> = {
  hook_failed: 'failed',
  execution_failed: 'failed',
  execution_lost: 'timed-out',
  execution_paused: 'clock',
  execution_incomplete: 'gate',
  limit_reached: 'gate',
  usage_limit: 'clock',
  // The state of these reasons already shows the glyph in its label.
  merge_conflict: null,
  retry_budget_exhausted: null,
  workspace_error: 'failed',
  workspace_reset_required: 'failed',
  nested_repository: 'gate',
  submodule_not_pushed: 'gate',
  work_elsewhere: 'gate',
  dependency_failed: 'gate',
  needs_person: 'gate',
}

/** Returns the reason why a task is blocked or waits; null if neither. */
export function conditionOf({ task, state, asks, approvers = () => [] }: CardFacts): CardCondition | null {
  if (asks !== null) return { glyph: 'gate', text: asks, needsYou: true }
  const annotation = task.error_annotation
  if (annotation) {
    const glyph =
      task.entry_barrier && annotation.type === 'hook_failed' ? 'barrier' : glyphOfAnnotation[annotation.type]
    const failing = annotation.type === 'hook_failed' ? failedCheck(task) : null
    return { glyph, text: failing ?? failureText(annotation), full: annotation.message, needsYou: true }
  }
  if (state?.kind === 'terminal') return null
  if (task.active_execution_id !== null) return null
  if (state?.kind === 'gate') return gateCondition(task, state, approvers)
  return null
}

function gateCondition(task: Task, state: WorkflowState, approvers: () => readonly string[]): CardCondition | null {
  const review = task.review_summary
  // A gate with hooks in before_enter has a review row per attempt; a gate without approves a plan.
  if ((state.hooks?.before_enter ?? []).length === 0) return waits(planText)
  if (task.entry_barrier) return null
  const looked = () => waits(checkedText(review?.steps.length ?? 0, approvers()))
  if (review?.status === 'running' || review?.status === 'pending') {
    // After its checks pass, a review stays open for the reviewer, or for a person who must see its
    // notes.
    const isGreen = review.steps.every((step) => step === 'passed')
    const reviewer = state.role === undefined ? undefined : task.roles[state.role]
    const asksAgent = reviewer?.type === 'agent' && (review.approved_by ?? []).length === 0
    const isForPerson = state.gate_config?.requires_human_approval === true || !asksAgent
    return isGreen && isForPerson ? looked() : null
  }
  if (review?.status === 'failed')
    return { glyph: 'failed', text: failedCheck(task) ?? `Attempt ${review.attempt_number} failed`, needsYou: true }
  return review?.status === 'passed' ? looked() : waits(planText)
}

const waits = (text: string): CardCondition => ({ glyph: 'gate', text, needsYou: true })

/** Returns the name of the failed check; null if none failed or the checks have changed since. */
function failedCheck(task: Task): string | null {
  const step = task.review_config.ci_steps[task.review_summary?.steps.indexOf('failed') ?? -1]
  return step === undefined ? null : checkFailedText(step)
}
