import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { ProjectId, RunnerId, TaskId } from '../../src-shared/contract/ids.ts'
import { hereRunner } from '../../src-shared/contract/runners.ts'
import { isContainable } from '../domain/access/containment.ts'
import { notFound } from '../domain/refusal.ts'
import type { Ground } from '../core/ground.ts'
import { servesOwner } from '../core/runner-records.ts'
import { toSettings } from '../core/views.ts'
import { workspaceOf } from '../core/workspace-of.ts'
import type { ExecutionRecord } from '../ports/execution-queries.ts'
import type { AgentRecord } from '../ports/agent-queries.ts'
import type { Place } from '../ports/place.ts'
import type { Queries } from '../ports/store.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { lastRun } from './messages.ts'
import { reviews } from './prompt-facts.ts'

interface WantedRun {
  readonly task: TaskRecord
  /** null: not known yet, but no reviewer's. */
  readonly role: string | null
  /** null: a person's run. */
  readonly agent: AgentRecord | null
  /** The runners that its claim names. */
  readonly named: readonly RunnerId[] | null
}

/**
 * Returns the runners where a run may go: those that its claim names, else its agent, else the project. A reviewer that
 * names none goes to `ci_runner`, else where the worktree is. People's runs are here; null: the agent runs elsewhere.
 */
export function runnersOf(
  context: Pick<Ground, 'workflows'>,
  q: Queries,
  { task, role, agent, named }: WantedRun,
): readonly RunnerId[] | null {
  if (agent === null) return [hereRunner]
  if (!isContainable(agent)) return null
  const own = named ?? agent.config.runner_ids
  if (own) return own
  const project = q.projects.get(task.project_id)
  const settings = project && toSettings(project)
  if (role !== null && reviews(context, q, { task, role }))
    return [settings?.ci_runner ?? workspaceOf(q, task)?.runner_id ?? hereRunner]
  return settings?.runner_ids ?? [hereRunner]
}

/** Returns the runners that the last run of this agent in the role was claimed for; null if it named none. */
export function toldRunners(
  q: Queries,
  { task_id, role, agent_id }: Pick<ExecutionRecord, 'task_id' | 'role' | 'agent_id'>,
): readonly RunnerId[] | null {
  if (agent_id === null || q.runners.list().length === 1) return null
  const last = lastRun(q, task_id, role)
  return (last?.agent_id === agent_id && last.overrides.runner_ids) || null
}

/**
 * Returns why a run can't go to any of these runners: one is unknown, not for the project or not for the agent, or none
 * can be reached. `waits`: it may wait until one can.
 */
export function runnerRefusal(
  q: Pick<Queries, 'runners' | 'daemons'>,
  ids: readonly RunnerId[],
  {
    project_id,
    agent,
    waits,
  }: { readonly project_id: ProjectId; readonly agent: AgentRecord | null; readonly waits: boolean },
): Refusal | null {
  const found = ids.map((id) => q.runners.get(id))
  const unknown = ids.find((_, index) => {
    const runner = found[index] ?? null
    if (runner === null || (runner.projects !== null && !runner.projects.includes(project_id))) return true
    return agent !== null && !servesOwner(q, runner, agent.owner_id)
  })
  if (unknown !== undefined) return { ...notFound('runner'), details: { resource: 'runner', runner_id: unknown } }
  const dead = found.flatMap((runner) =>
    runner !== null && (runner.state === 'unreachable' || runner.state === 'outdated') ? [runner] : [],
  )
  const [first] = dead
  if (waits || first === undefined || dead.length < ids.length) return null
  const names = dead.map(({ name }) => name).join(', ')
  const why = first.last_error === null ? '' : ` ${first.last_error}`
  return {
    code: 'runner_unreachable',
    message: `${names} can't be reached.${why} Fix it, or let the run wait for it.`,
    details: { runners: dead.map(({ id }) => id) },
  }
}

/** Returns the place where a run would most likely go now, for what must be known of it before its turn comes. */
export function likelyPlace(
  { places }: Pick<Ground, 'places'>,
  q: Queries,
  task_id: TaskId,
  ids: readonly RunnerId[] | null,
): Place {
  const ready = ids?.find((id) => q.runners.get(id)?.state === 'ready') ?? ids?.[0]
  return ready === undefined ? places.of(task_id) : places.at(ready)
}
