import type { ErrorAnnotation } from '../../../src-shared/contract/tasks.ts'

type AnnotationType = ErrorAnnotation['type']

/** Errors of a run that has ended: they are over once somebody runs again, or the work is judged as it is. */
const ofRuns: readonly AnnotationType[] = [
  'execution_paused',
  'execution_failed',
  'execution_incomplete',
  'execution_lost',
  'retry_budget_exhausted',
]

/** Errors of a step of a transition that holds the task: they are over once it has been done or skipped. */
const ofSteps: readonly AnnotationType[] = ['hook_failed', 'nested_repository', 'submodule_not_pushed']

export const isOfStep = ({ type }: Pick<ErrorAnnotation, 'type'>): boolean => ofSteps.includes(type)

/**
 * Returns what is still wrong with a task that stays in its state after somebody began to work on it (`run`) or its
 * review has passed (`pass`). An error goes with its cause only: whatever else happens leaves it. A step that holds is
 * the cause as long as it is pending; a move to another state ends all that was wrong in the old one.
 */
export function clearAnnotation(
  annotation: ErrorAnnotation | null,
  by: 'run' | 'pass',
  hasPendingStep: boolean,
): ErrorAnnotation | null {
  if (annotation === null || ofRuns.includes(annotation.type)) return null
  if (isOfStep(annotation)) return hasPendingStep ? annotation : null
  // The worktree was made, or there would be no run.
  return by === 'run' && annotation.type === 'workspace_error' ? null : annotation
}
