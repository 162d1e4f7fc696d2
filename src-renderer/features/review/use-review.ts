import { computed, type ComputedRef } from 'vue'
import type { ProjectSettings } from '../../../src-shared/contract/projects.ts'
import type { Review } from '../../../src-shared/contract/reviews.ts'
import type { Workspace } from '../../../src-shared/contract/workspaces.ts'
import { retryBudget, type RetryBudget } from '../../model/retry-budget.ts'
import type { DecisionId } from '../../model/decision-action.ts'
import { useDecision, useDecisionDeeds } from '../../stores/review/decisions.ts'
import { useProjects } from '../../stores/project/projects.ts'
import { useReviews } from '../../stores/review/reviews.ts'
import type { Query } from '../../stores/base/query.ts'
import { useTaskQueries } from '../../stores/review/task-details.ts'

type DecisionFacts = Pick<
  ReturnType<typeof useDecision>,
  'task' | 'workflow' | 'state' | 'branch' | 'conflicts' | 'decision'
>

/** The data and actions of a task's review pane. */
export interface TaskReview extends DecisionFacts {
  readonly attempts: ComputedRef<readonly Review[]>
  /** Whether the reviews are loaded. */
  readonly isKnown: ComputedRef<boolean>
  /** The rejections by the gate; null without a limit. */
  readonly budget: ComputedRef<RetryBudget | null>
  readonly workspace: Query<Workspace | null>['data']
  readonly settings: ComputedRef<ProjectSettings | undefined>
  /** The decision being performed. */
  readonly busy: ComputedRef<DecisionId | null>
}

/** Returns the data and actions of a task's review pane. */
export function useReview(taskId: () => string): TaskReview {
  const projects = useProjects()
  const reviews = useReviews()
  const deeds = useDecisionDeeds()
  const { task, workflow, state, branch, conflicts, decision } = useDecision(taskId)
  const { workspace } = useTaskQueries(taskId)

  return {
    task,
    workflow,
    state,
    attempts: computed(() => reviews.byTask(taskId())),
    isKnown: computed(() => reviews.isKnown(taskId())),
    branch,
    decision,
    budget: computed(() => (task.value ? retryBudget(task.value, workflow.value) : null)),
    workspace: workspace.data,
    conflicts,
    settings: computed(() => (task.value ? projects.settings(task.value.project_id) : undefined)),
    busy: computed(() => deeds.busyWith(taskId())),
  }
}
