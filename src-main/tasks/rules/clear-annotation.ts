import type { ErrorAnnotation } from '../../../src-shared/contract/tasks.ts'

type AnnotationType = ErrorAnnotation['type']

/** Errors of an ended run, or of one that could not start: a new run or a verdict on the work clears them. */
const ofRuns: readonly AnnotationType[] = [
  'execution_paused',
  'execution_failed',
  'execution_incomplete',
  'execution_lost',
  'limit_reached',
  'needs_person',
  'usage_limit',
  'retry_budget_exhausted',
  'dependency_failed',
]

/** Errors of a step that blocks the task: doing or skipping the step clears them. */
const ofSteps: readonly AnnotationType[] = [
  'hook_failed',
  'nested_repository',
  'submodule_not_pushed',
  'work_elsewhere',
]

export const isOfStep = ({ type }: Pick<ErrorAnnotation, 'type'>): boolean => ofSteps.includes(type)

/**
 * Returns the remaining error of a task that stays in its state after a run started (`run`) or its review passed
 * (`pass`).
 * An error is cleared only with its cause. While a step that blocks the task is pending, the cause remains; a move
 * to another state clears every error of the old one.
 */
export function clearAnnotation(
  annotation: ErrorAnnotation | null,
  by: 'run' | 'pass',
  hasPendingStep: boolean,
): ErrorAnnotation | null {
  if (annotation === null || ofRuns.includes(annotation.type)) return null
  if (isOfStep(annotation)) return hasPendingStep ? annotation : null
  // A run has started, so the worktree exists.
  return by === 'run' && annotation.type === 'workspace_error' ? null : annotation
}
