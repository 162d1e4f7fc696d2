import type { WorkflowDefinition } from '../../../src-shared/contract/workflow-definition.ts'
import type { Comment } from '../../../src-shared/contract/comments.ts'
import type { Execution } from '../../../src-shared/contract/executions.ts'
import type { HookRun } from '../../../src-shared/contract/lifecycle-hooks.ts'
import type { Review, Verdict } from '../../../src-shared/contract/reviews.ts'
import type { HookOutcome, Task, TransitionEntry } from '../../../src-shared/contract/tasks.ts'
import type { Workspace } from '../../../src-shared/contract/workspaces.ts'

/** A timeline entry. Successful hooks are left out unless they changed the branch or the repository. */
export type ActivityItem = { readonly key: string; readonly at: string } & (
  | { readonly kind: 'created'; readonly task: Task }
  | { readonly kind: 'worktree'; readonly workspace: Workspace }
  /** `attempt`: the review that a rejection ended, if known. */
  | { readonly kind: 'transition'; readonly entry: TransitionEntry; readonly attempt: Review | null }
  /** `run`: the hook's log, if there is one. */
  | { readonly kind: 'hook'; readonly hook: HookOutcome; readonly run: HookRun | null }
  /** `n`: the number of the execution within the task. */
  | { readonly kind: 'execution'; readonly execution: Execution; readonly n: number }
  | { readonly kind: 'ci'; readonly review: Review }
  | { readonly kind: 'verdict'; readonly review: Review; readonly verdict: Verdict }
  | { readonly kind: 'comment'; readonly comment: Comment }
)

/** The data of a timeline. */
export interface ActivityFacts {
  readonly task: Task
  /** Oldest first. */
  readonly transitions: readonly TransitionEntry[]
  /** The runs of the task's hooks, including hooks without a transition. */
  readonly hooks: readonly HookRun[]
  readonly executions: readonly Execution[]
  readonly reviews: readonly Review[]
  readonly comments: readonly Comment[]
  readonly workspace: Workspace | null
  readonly workflow: WorkflowDefinition | undefined
}

/** The filters of the timeline. */
export const activityFilters = [
  { id: 'all', label: 'Everything', kinds: null },
  { id: 'moves', label: 'Moves', kinds: ['created', 'worktree', 'transition'] },
  { id: 'runs', label: 'Runs', kinds: ['execution', 'ci'] },
  { id: 'hooks', label: 'Hooks', kinds: ['hook'] },
  { id: 'words', label: 'Comments', kinds: ['comment', 'verdict'] },
] as const satisfies readonly { id: string; label: string; kinds: readonly ActivityItem['kind'][] | null }[]
export type ActivityFilter = (typeof activityFilters)[number]['id']

/** Returns whether an entry passes a filter. */
export function passes(filter: ActivityFilter, { kind }: ActivityItem): boolean {
  const kinds: readonly string[] | null = activityFilters.find(({ id }) => id === filter)?.kinds ?? null
  return kinds === null || kinds.includes(kind)
}
