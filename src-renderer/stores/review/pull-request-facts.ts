import { computed, type ComputedRef } from 'vue'
import type { Integration } from '../../../src-shared/contract/integrations.ts'
import type { PullRequest } from '../../../src-shared/contract/pull-requests.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import type { WorkflowDefinition } from '../../../src-shared/contract/workflow-definition.ts'
import { forgeName } from '../../model/forge-name.ts'
import { hasTrait } from '../../model/workflow-shape.ts'
import type { PullRequestFacts } from '../../model/pull-request-decision.ts'
import { useQuery } from '../base/query.ts'
import { useIntegrations } from '../project/integrations.ts'
import { useProjects } from '../project/projects.ts'
import { usePullRequests } from './pull-requests.ts'

/** A task's pull request with what is known of its forge. */
export interface LoadedPullRequest {
  /** undefined while it loads, null without one. */
  readonly integration: ComputedRef<Integration | null | undefined>
  /** The newest known one; null while it loads and without one. */
  readonly pull: ComputedRef<PullRequest | null>
  /** Why it could not be loaded. */
  readonly failure: ComputedRef<Error | null>
  readonly loading: ComputedRef<boolean>
  readonly reload: () => Promise<void>
  readonly facts: ComputedRef<PullRequestFacts>
}

/** Loads the pull request of a task and the connection to its forge; null for no task. `wanted`: whether it is shown. */
export function useLoadedPullRequest(task: () => Task | null, wanted: () => boolean = () => true): LoadedPullRequest {
  const integrations = useIntegrations()
  const projects = useProjects()
  const pulls = usePullRequests()

  const connection = useQuery(
    () => integrations.load(task()?.project_id ?? ''),
    () => {
      const now = task()
      const isKnown = now === null || integrations.of(now.project_id) !== undefined
      return now === null || isKnown || !wanted() ? null : ['integration of', now.project_id]
    },
  )
  const details = useQuery(
    () => pulls.load(task()?.id ?? ''),
    () => {
      const now = task()
      return now?.pull_request == null || !wanted() ? null : ['pull request of', now.id, now.pull_request.number]
    },
  )
  const integration = computed(() => integrations.of(task()?.project_id ?? ''))
  const pull = computed(() => {
    const now = task()
    const known = now?.pull_request == null ? null : (pulls.of(now.id) ?? null)
    return known?.number === now?.pull_request?.number ? known : null
  })
  const facts = computed((): PullRequestFacts => {
    const now = task()
    const known = integration.value ?? null
    const url = now?.pull_request?.url ?? known?.base_url ?? ''
    return {
      ref: now?.pull_request ?? null,
      known: pull.value,
      forge: forgeName(known?.platform ?? null, url),
      can: known?.can ?? null,
      off: whyOff(integration.value),
      unready: now === null ? null : whyUnready(now, projects.workflow(now.project_id)),
    }
  })
  return {
    integration,
    pull,
    failure: computed(() => details.error.value ?? connection.error.value),
    loading: computed(() => details.loading.value || connection.loading.value),
    reload: async () => {
      await Promise.all([details.reload(), connection.reload()])
    },
    facts,
  }
}

/** Returns why nothing can be sent to the forge; null while the connection loads, since then nobody can say. */
function whyOff(integration: Integration | null | undefined): string | null {
  if (integration === undefined) return null
  if (integration === null) return 'Connect the project to its forge first'
  if (!integration.enabled) return 'The connection to the forge is off'
  return integration.pull_requests.enabled ? null : 'Pull requests are off for this project'
}

/** Returns why a pull request can't be opened yet, as far as the task tells; the service knows the rest. */
function whyUnready(
  { review_summary, review_passed_at, active_execution_id }: Task,
  workflow: WorkflowDefinition | undefined,
): string | null {
  if (active_execution_id !== null) return 'Someone is working on this task'
  const isReviewed = workflow?.states.some((state) => hasTrait(workflow, state, 'makes_gate')) === true
  if (isReviewed && review_passed_at === null) return 'Pass the review first'
  return review_summary?.empty === true ? 'There are no changes to push' : null
}
