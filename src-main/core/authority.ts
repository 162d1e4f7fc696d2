import type { ErrorAnnotation } from '../../src-shared/contract/tasks.ts'
import type { ExecutionId, TaskId } from '../../src-shared/contract/ids.ts'
import type { Refusal } from '../../src-shared/contract/errors.ts'
import { lacksOf, needsPerson, rulesOf, type HeldRules } from '../domain/access/authority.ts'
import { isContainable } from '../domain/access/containment.ts'
import type { AgentQueries, AgentRecord } from '../ports/agent-queries.ts'
import type { Place } from '../ports/place.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { Ground } from './ground.ts'
import type { Tx } from './event-feed.ts'
import type { ExecutionQueries } from '../ports/execution-queries.ts'

/** Returns the rules that hold a run; null if it is not contained. */
export function rulesOfRun(
  { places }: Pick<Ground, 'places'>,
  q: { readonly executions: ExecutionQueries; readonly agents: AgentQueries },
  id: ExecutionId,
): HeldRules | null {
  const run = q.executions.get(id)
  const agent = run?.agent_id == null ? null : q.agents.get(run.agent_id)
  if (!run || !agent) return null
  // A run may use its token before it is recorded as running.
  return rulesOf(run.containment ?? levelOf(places.of(run.task_id), agent), agent.config)
}

/**
 * Returns why an agent may not start on a task without a person's word; null if it may (invariant I8). `place`: where it
 * would run, if that is not where the worktree is.
 */
export function authorityRefusal(
  { places }: Pick<Ground, 'places'>,
  { id, held_to }: Pick<TaskRecord, 'id' | 'held_to'>,
  agent: AgentRecord | null,
  place?: Place,
): Refusal | null {
  if (held_to === null || agent === null) return null
  const lacks = lacksOf(levelOf(place ?? places.of(id), agent), agent.config, held_to)
  return lacks.length === 0 ? null : needsPerson(agent, lacks)
}

/** Returns the containment that a run of the agent would have there. */
export function levelOf({ containment }: Pick<Place, 'containment'>, { executor, daemon_id, config }: AgentRecord) {
  return isContainable({ executor, daemon_id }) ? containment.effectiveLevel(config.containment ?? 'none') : 'none'
}

/** The error of a task whose start waits for a person. */
export const startWaits = ({ message }: Refusal): ErrorAnnotation => ({
  type: 'needs_person',
  message,
  recovery_actions: ['allow_start'],
})

/** Shows on a task that its start waits for a person, unless it shows something else. */
export function holdStart(tx: Tx, id: TaskId, refusal: Refusal): void {
  const task = tx.tasks.get(id)
  if (task?.error_annotation === null) tx.saveTask({ ...task, error_annotation: startWaits(refusal) })
}
