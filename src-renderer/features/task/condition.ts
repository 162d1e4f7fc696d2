import type { ErrorAnnotation } from '../../../src-shared/contract/tasks.ts'

const titles = {
  hook_failed: 'A hook failed',
  execution_paused: 'Paused',
  execution_failed: 'The agent failed',
  execution_incomplete: 'The agent did not finish',
  execution_lost: 'The agent was lost',
  merge_conflict: 'The merge has conflicts',
  retry_budget_exhausted: 'The retry budget is used up',
  workspace_error: 'The worktree cannot be used',
  workspace_reset_required: 'The worktree and its branch are gone',
  nested_repository: 'The worktree holds another repository',
  submodule_not_pushed: 'A submodule is not pushed',
} as const satisfies Record<ErrorAnnotation['type'], string>

/** The tab that says more, and what its button is called. */
export interface PlaceToLook {
  readonly tab: 'workspace' | 'review' | 'hooks'
  readonly label: string
}

export const placeToLook: Partial<Record<ErrorAnnotation['type'], PlaceToLook>> = {
  workspace_reset_required: { tab: 'workspace', label: 'See the workspace' },
  merge_conflict: { tab: 'review', label: 'See the conflict' },
  retry_budget_exhausted: { tab: 'review', label: 'See the attempts' },
  hook_failed: { tab: 'hooks', label: 'See its log' },
}

export interface Condition {
  readonly tone: 'warn' | 'fail' | 'you'
  readonly title: string
}

/** Nothing has failed: it goes on when a person says how. */
const waiting: ReadonlySet<ErrorAnnotation['type']> = new Set([
  ...(['execution_paused', 'execution_incomplete', 'nested_repository', 'submodule_not_pushed'] as const),
])

/** How the note above the tabs names and colours the task's condition. */
export function conditionOf(annotation: ErrorAnnotation): Condition {
  const asks = annotation.type === 'execution_incomplete' && annotation.reason === 'question'
  const paused = waiting.has(annotation.type)
  return {
    tone: asks ? 'you' : paused ? 'warn' : 'fail',
    title: asks ? 'The agent asks something' : titles[annotation.type],
  }
}
