import type { ErrorAnnotation, Task } from '../../../../src-shared/contract/tasks.ts'
import type { WorkflowState } from '../../../../src-shared/contract/workflow-definition.ts'

import { checkedText, checkFailedText, planText } from '../../../model/decision.ts'
import { failureText } from '../../../formatters/failure-text.ts'

/** The one sentence below a card's title, with the glyph that carries its meaning. */
export interface CardCondition {
  readonly glyph: 'failed' | 'barrier' | 'gate' | 'clock' | 'timed-out' | null
  readonly text: string
  /** All that there is to say, where the text is a part of it. */
  readonly full?: string
  /** A person must act. */
  readonly needsYou: boolean
}

interface CardFacts {
  readonly task: Task
  readonly state: WorkflowState | undefined
  /** What its agent waits for a person to answer. */
  readonly asks: string | null
  /** The names of everyone who approved the waiting work; called only if it waits. */
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
  // These have a state of their own, whose label already carries the glyph.
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

/** What holds a task up, or what it waits for; null while nothing does. */
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
  // A gate with hooks before it makes a review row of every attempt; one without is a plan to approve.
  if ((state.hooks?.before_enter ?? []).length === 0) return waits(planText)
  if (task.entry_barrier) return null
  const looked = () => waits(checkedText(review?.steps.length ?? 0, approvers()))
  if (review?.status === 'running' || review?.status === 'pending') {
    // Once its checks have passed, a review stays open for its reviewer, or for a person who has to see its notes.
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

/** Which of its checks failed; null where none did, or where they were changed since. */
function failedCheck(task: Task): string | null {
  const step = task.review_config.ci_steps[task.review_summary?.steps.indexOf('failed') ?? -1]
  return step === undefined ? null : checkFailedText(step)
}
