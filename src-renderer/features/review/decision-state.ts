import type { Review } from '../../../src-shared/contract/reviews.ts'
import type { Task, TaskMove } from '../../../src-shared/contract/tasks.ts'
import type { WorkflowDefinition } from '../../../src-shared/contract/workflow-definition.ts'
import { hasTrait } from '../../model/workflow-shape.ts'

export interface DecisionInput {
  readonly task: Task
  readonly workflow: WorkflowDefinition
  /** Newest first. */
  readonly reviews: readonly Review[]
  readonly moves: readonly TaskMove[]
  readonly feedback: string
  readonly target_branch: string
}

/** A button: what it says, and why it cannot be pressed (null: it can). */
export interface DecisionAction {
  readonly label: string
  readonly refusal: string | null
}

export interface Decision {
  readonly advance: DecisionAction & {
    readonly to: string
    readonly merges: boolean
    /** What the button does, in order. */
    readonly steps: readonly ('verdict' | 'transition')[]
  }
  readonly approve: DecisionAction | null
  readonly reject: DecisionAction & { readonly to: string | null }
}

/** What a person can decide at the task's gate; null where the task waits for no judgement. */
export function decisionState(input: DecisionInput): Decision | null {
  const { task, workflow, reviews, moves, feedback, target_branch } = input
  const states = new Map(workflow.states.map((state) => [state.name, state]))
  const gate = states.get(task.status)
  const to = gate?.transitions[0]?.to
  if (gate?.kind !== 'gate' || to === undefined) return null

  // A gate without CI keeps no review row: what an earlier gate left is not its own.
  const review = hasTrait(workflow, gate, 'makes_gate') && reviews[0]?.status !== 'cancelled' ? reviews[0] : undefined
  const passed = review === undefined ? false : review.status === 'passed'
  const blocked = ciRefusal(review)
  const next = states.get(to)
  const merges = next !== undefined && hasTrait(workflow, next, 'merges')
  const toLabel = next?.label ?? to
  const move = moves.find((candidate) => candidate.to === to)
  // Until a verdict is given, the engine refuses the move for exactly the verdict that this button gives.
  const moveRefusal =
    passed && move?.allowed === false ? (move.reason ?? `The task cannot go to ${toLabel} now.`) : null
  const rejectTo = gate.gate_config?.reject_target
  const rejectLabel = rejectTo === undefined ? null : (states.get(rejectTo)?.label ?? rejectTo)

  return {
    advance: {
      to,
      merges,
      // Without a review row a pass follows the forward transition by itself.
      steps: passed ? ['transition'] : review === undefined ? ['verdict'] : ['verdict', 'transition'],
      label: advanceLabel(merges, passed, target_branch, toLabel),
      refusal: blocked ?? moveRefusal,
    },
    approve:
      review === undefined
        ? null
        : { label: 'Approve', refusal: blocked ?? (passed ? 'It is approved already.' : null) },
    reject: {
      to: rejectLabel,
      label: 'Request changes',
      refusal:
        rejectLabel === null
          ? 'This gate has no state to send the task back to.'
          : feedback.trim() === ''
            ? 'Request changes needs feedback.'
            : null,
    },
  }
}

function advanceLabel(merges: boolean, passed: boolean, branch: string, toLabel: string): string {
  if (merges) return passed ? `Merge into ${branch}` : `Approve and merge into ${branch}`
  return passed ? `Move to ${toLabel}` : `Approve and move to ${toLabel}`
}

function ciRefusal(review: Review | undefined): string | null {
  if (review === undefined) return null
  const failing = review.step_results.find((step) => step.exit_code !== null && step.exit_code !== 0)
  if (failing) return `CI failed: ${failing.command} exited ${failing.exit_code}.`
  const done = review.step_results.filter((step) => step.exit_code === 0).length
  const total = review.ci_steps.length
  if (done < total && (review.status === 'running' || review.status === 'pending'))
    return `CI is at work: ${done} of ${total} steps passed.`
  return null
}
