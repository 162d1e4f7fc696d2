import type { ErrorAnnotation, Task } from '../../../src-shared/contract/tasks.ts'
import type { WorkflowState } from '../../../src-shared/contract/workflow-definition.ts'

/** The one sentence below a card's title, with the glyph that carries its meaning. */
export interface CardCondition {
  readonly glyph: 'failed' | 'barrier' | 'gate' | 'clock' | 'timed-out' | null
  readonly text: string
  /** A person must act. */
  readonly needsYou: boolean
}

interface CardFacts {
  readonly task: Task
  readonly state: WorkflowState | undefined
  /** What its agent waits for a person to answer. */
  readonly asks: string | null
}

const glyphOfAnnotation: Readonly<Record<ErrorAnnotation['type'], CardCondition['glyph']>> = {
  hook_failed: 'failed',
  execution_failed: 'failed',
  execution_lost: 'timed-out',
  execution_paused: 'clock',
  execution_incomplete: 'gate',
  // These have a state of their own, whose label already carries the glyph.
  merge_conflict: null,
  retry_budget_exhausted: null,
  workspace_error: 'failed',
  workspace_reset_required: 'failed',
  nested_repository: 'gate',
  submodule_not_pushed: 'gate',
}

/** What holds a task up, or what it waits for; null while nothing does. */
export function conditionOf({ task, state, asks }: CardFacts): CardCondition | null {
  if (asks !== null) return { glyph: 'gate', text: asks, needsYou: true }
  const annotation = task.error_annotation
  if (annotation) {
    const glyph =
      task.entry_barrier && annotation.type === 'hook_failed' ? 'barrier' : glyphOfAnnotation[annotation.type]
    return { glyph, text: annotation.message, needsYou: true }
  }
  if (state?.kind === 'terminal') return null
  if (task.active_execution_id !== null) return null
  if (state?.kind === 'gate') return gateCondition(task, state)
  return null
}

const waitsForApproval: CardCondition = { glyph: 'gate', text: 'Waits for your approval', needsYou: true }

function gateCondition(task: Task, state: WorkflowState): CardCondition | null {
  const review = task.review_summary
  // A gate with hooks before it makes a review row of every attempt; one without is a plan to approve.
  if ((state.hooks?.before_enter ?? []).length === 0)
    return { glyph: 'gate', text: 'Approve it or send it back', needsYou: true }
  if (task.entry_barrier) return null
  if (review?.status === 'running' || review?.status === 'pending') {
    // Once its CI is green, a review stays open for whoever has to judge it.
    const isGreen = review.steps.every((step) => step === 'passed')
    return isGreen && state.gate_config?.requires_human_approval === true ? waitsForApproval : null
  }
  if (review?.status === 'failed') {
    const step = task.review_config.ci_steps[review.steps.indexOf('failed')]
    return { glyph: 'failed', text: `${step ?? `Attempt ${review.attempt_number}`} failed`, needsYou: true }
  }
  // Where nobody is asked a green CI is the verdict: what is left to a person is the next step, not an approval.
  return review?.status === 'passed' ? { ...waitsForApproval, text: 'Passed, and waits for you' } : waitsForApproval
}
