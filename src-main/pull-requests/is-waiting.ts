import type { Tx } from '../core/event-feed.ts'
import { hasTrait } from '../domain/workflow/graph.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { PullRequestDeps } from './pull-request-ground.ts'

/** Returns whether the task stands where it waits for its pull request. */
export function isWaiting(
  { transitions }: Pick<PullRequestDeps, 'transitions'>,
  q: Pick<Tx, 'projects'>,
  task: TaskRecord,
): boolean {
  const workflow = transitions.workflowOf(q, task)
  const state = workflow.states.get(task.status)
  return state !== undefined && hasTrait(workflow, state, 'awaits_pull_request')
}
