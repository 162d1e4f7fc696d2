import type { Refusal } from '../../../src-shared/contract/errors.ts'
import type { TaskId } from '../../../src-shared/contract/ids.ts'
import { isSubmitted } from '../../tasks/rules/claim-guard.ts'
import { isDone, type Workflow } from '../../domain/workflow/graph.ts'

/** The progress of a task, as the tasks stacked on it need it. */
export type StackPhase =
  /** Its work is not submitted, or is being worked on again. */
  | 'open'
  | 'submitted'
  /** It has landed. */
  | 'done'
  | 'cancelled'

export interface StackedTask {
  readonly id: TaskId
  readonly status: string
  readonly stacked_on: TaskId | null
}

export function stackPhase(workflow: Workflow, status: string): StackPhase {
  if (status === workflow.cancellation?.name) return 'cancelled'
  if (isDone(workflow, status)) return 'done'
  return isSubmitted(workflow, status) ? 'submitted' : 'open'
}

/**
 * Returns the task on whose branch another lies, and its phase: the next one below it that has neither landed nor been
 * cancelled. Null where it lies on the base branch.
 */
export function openBelow<T extends StackedTask>(
  workflow: Workflow,
  task: Pick<StackedTask, 'id' | 'stacked_on'>,
  get: (id: TaskId) => T | null,
): { readonly task: T; readonly phase: 'open' | 'submitted' } | null {
  for (const lower of below(task, get)) {
    const phase = stackPhase(workflow, lower.status)
    if (phase === 'open' || phase === 'submitted') return { task: lower, phase }
  }
  return null
}

/** Lists the tasks below another, the next one first. */
export function below<T extends StackedTask>(
  task: Pick<StackedTask, 'id' | 'stacked_on'>,
  get: (id: TaskId) => T | null,
): readonly T[] {
  const found: T[] = []
  const seen = new Set<TaskId>([task.id])
  for (let id = task.stacked_on; id !== null && !seen.has(id);) {
    seen.add(id)
    const lower = get(id)
    if (lower === null) break
    found.push(lower)
    id = lower.stacked_on
  }
  return found
}

/** What is known of a task's branch and of the one that it is to lie on. */
export interface RestackFacts {
  readonly upper: {
    /** It has a branch. */
    readonly has_branch: boolean
    /** It is finished or archived: its branch stays as it is. */
    readonly is_over: boolean
    /** An agent or a person is at work in its worktree, or steps of its workflow run there. */
    readonly is_busy: boolean
    /** The task on whose branch it lies now. */
    readonly lies_on: TaskId | null
  }
  readonly lower: {
    readonly id: TaskId
    readonly phase: 'open' | 'submitted'
    readonly has_branch: boolean
  } | null
}

export type RestackStep =
  /** The branch lies where it should. */
  | { readonly kind: 'rest' }
  /** Something must end first. */
  | { readonly kind: 'wait'; readonly for: 'upper' | 'lower' }
  /** The branch is to lie on the newest commit of the task's branch; null: of the base branch. */
  | { readonly kind: 'bring'; readonly onto: TaskId | null }

/** Decides where the branch of a stacked task is to be brought now. */
export function planRestack({ upper, lower }: RestackFacts): RestackStep {
  if (!upper.has_branch || upper.is_over) return { kind: 'rest' }
  if (lower === null && upper.lies_on === null) return { kind: 'rest' }
  // What is not submitted is not followed commit by commit.
  if (lower !== null && (lower.phase === 'open' || !lower.has_branch)) return { kind: 'wait', for: 'lower' }
  if (upper.is_busy) return { kind: 'wait', for: 'upper' }
  return { kind: 'bring', onto: lower?.id ?? null }
}

/** Refuses the landing of a task before the one below it. */
export function stackLandingGate(lower: { readonly id: TaskId; readonly ref: string }): Refusal {
  return {
    code: 'dependency_gate',
    message: `This task is stacked on ${lower.ref}, which hasn't landed. Land that one first, or take this task off the stack.`,
    details: { stacked_on: lower.id },
  }
}
