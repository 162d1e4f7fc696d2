import { computed, type ComputedRef } from 'vue'
import type { Integration } from '../../../src-shared/contract/integrations.ts'
import type { PullRequest } from '../../../src-shared/contract/pull-requests.ts'
import type { Review } from '../../../src-shared/contract/reviews.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import {
  decidePullRequest,
  type PullRequestDecision,
  type PullRequestFacts,
} from '../../model/pull-request-decision.ts'
import { hasTrait } from '../../model/workflow-shape.ts'
import { useLive, useWhenBack } from '../../stores/live.ts'
import { usePeople } from '../../stores/people/people.ts'
import { useProjects } from '../../stores/project/projects.ts'
import { useLoadedPullRequest } from '../../stores/review/pull-request-facts.ts'
import { useReviews } from '../../stores/review/reviews.ts'
import { useExecutions } from '../../stores/runs/executions.ts'
import { useTasks } from '../../stores/tasks/tasks.ts'

/** The data of the pull request's tab. */
export interface PullRequestTab {
  readonly task: ComputedRef<Task | null>
  readonly pull: ComputedRef<PullRequest | null>
  readonly integration: ComputedRef<Integration | null | undefined>
  readonly facts: ComputedRef<PullRequestFacts>
  readonly decision: ComputedRef<PullRequestDecision>
  /** The newest attempt of the review here. */
  readonly review: ComputedRef<Review | null>
  /** The name of the agent that fixes what was found there, while it runs. */
  readonly fixer: ComputedRef<string | null>
  /** Whether the header of the panel has the next action. */
  readonly isDecidedAbove: ComputedRef<boolean>
  /** Why nothing can be changed now; null if it can. */
  readonly refusal: ComputedRef<string | null>
  readonly failure: ComputedRef<Error | null>
  readonly loading: ComputedRef<boolean>
  readonly reload: () => Promise<void>
}

/** Returns the data of the pull request's tab. */
export function usePullRequest(taskId: () => string): PullRequestTab {
  const executions = useExecutions()
  const live = useLive()
  const people = usePeople()
  const projects = useProjects()
  const reviews = useReviews()
  const tasks = useTasks()
  const task = computed(() => tasks.byId.get(taskId()) ?? null)
  const { integration, pull, failure, loading, reload, facts } = useLoadedPullRequest(() => task.value)
  useWhenBack(() => void reload())

  const isDecidedAbove = computed(
    () =>
      task.value !== null &&
      hasTrait(projects.workflow(task.value.project_id), { name: task.value.status }, 'awaits_pull_request'),
  )
  return {
    task,
    pull,
    integration,
    facts,
    decision: computed(() => decidePullRequest(facts.value)),
    review: computed(() => reviews.byTask(taskId())[0] ?? null),
    fixer: computed(() => {
      const run = executions.byId.get(task.value?.active_execution_id ?? '')
      const fixes = integration.value?.pull_requests.auto_fix.enabled === true && (pull.value?.rounds ?? 0) > 0
      return run && fixes ? people.worker(run).name : null
    }),
    isDecidedAbove,
    refusal: computed(() => live.refusal ?? facts.value.off),
    failure,
    loading,
    reload,
  }
}
