import type { ProjectId, RunnerId, TaskId } from '../../src-shared/contract/ids.ts'
import type { WaitReason } from '../../src-shared/contract/queue.ts'
import { hereRunner } from '../../src-shared/contract/runners.ts'
import { nowIso, type Ground } from '../core/ground.ts'
import { limitedUntil } from './accounts.ts'
import type { RunLimits } from './run-limits.ts'
import type { Executions } from './executions.ts'
import { isContainable } from '../domain/access/containment.ts'
import { planStarts, type RunnerLoad } from './rules/choose-runner.ts'
import { runnersOf } from './runner-choice.ts'
import { messageWaitReason } from './messages.ts'
import type { OpenExecution } from '../ports/execution-queries.ts'
import type { RunnerRecord } from '../ports/runner-queries.ts'
import type { Queries } from '../ports/store.ts'
import { toSettings } from '../core/views.ts'
import { workspaceOwner } from '../core/workspace-of.ts'

/** An execution that has not started, and why; null: it can start now. */
export interface QueuedExecution {
  readonly record: OpenExecution
  readonly reason: WaitReason | null
  /** Where it can start; null where it can't, and for agents elsewhere. */
  readonly runner_id: RunnerId | null
  /** The runners that it waits for; empty if it waits for something else, or can start. */
  readonly awaited: readonly RunnerId[]
}

/** By runner: when a run of each project last started there, as a number that grows with each start. */
export type Served = ReadonlyMap<RunnerId, ReadonlyMap<ProjectId, number>>

/**
 * Returns the queued executions in their order, each with where it can start or the reason for its wait. Each project
 * has its own slots; an execution that waits for another reason takes none, so it holds up no other.
 */
export function queuedExecutions(
  context: Ground,
  executions: Executions,
  limits: RunLimits,
  served: Served,
): readonly QueuedExecution[] {
  const read = rememberingOnce(context.store.read)
  const running = countRunning(executions)
  const taken = takenWorktrees(read, executions)
  const now = nowIso(context)
  const limitReason = (q: Queries, record: OpenExecution): WaitReason | null => {
    if (record.retry_at !== null && record.retry_at > now) return 'retry_later'
    const agent = record.agent_id === null ? null : q.agents.get(record.agent_id)
    if (limitedUntil(q, agent, now) !== null) return 'usage_limit'
    return limits.holds(q, record) ? 'limit_reached' : null
  }
  const queued = read.executions
    .queue()
    .filter(({ status }) => status === 'queued')
    .map((record) => ({
      record,
      project_id: record.project_id,
      get candidates() {
        return candidatesOf(context, read, record)
      },
    }))
  const starts = planStarts(queued, loadsOf(read, executions, served), {
    waits: ({ record }) =>
      executions.running().has(record.id)
        ? 'starting'
        : (waitReason(read, record) ??
          limitReason(read, record) ??
          busyWorktree(read, record, taken) ??
          noSlot(read, record, running)),
    // Reserve the slot and worktree so that later entries see them as taken.
    take: ({ record }) => {
      const worktree = worktreeOf(read, record)
      if (worktree !== null) taken.set(worktree, record.task_id)
      running.set(record.project_id, (running.get(record.project_id) ?? 0) + 1)
    },
  })
  return queued.map((one) => {
    const choice = starts.get(one) ?? waitsForNothing
    return { record: one.record, ...choice, awaited: waitsForRunner(choice.reason) ? (one.candidates ?? []) : [] }
  })
}

const waitsForRunner = (reason: WaitReason | null): boolean =>
  reason === 'runner_full' || reason === 'runner_unreachable'

const waitsForNothing = { reason: null, runner_id: null } as const

/** Returns where a queued execution may run; null for an agent elsewhere. */
function candidatesOf(
  context: Pick<Ground, 'workflows'>,
  q: Queries,
  { task_id, role, agent_id, runner_ids: named }: OpenExecution,
): readonly RunnerId[] | null {
  const task = q.tasks.get(task_id)
  const agent = agent_id === null ? null : q.agents.get(agent_id)
  if (q.runners.list().length === 1) return agent && !isContainable(agent) ? null : [hereRunner]
  // Without its agent or task it fails as soon as it starts.
  if (!task || (agent_id !== null && !agent)) return [hereRunner]
  return runnersOf(context, q, { task, role, agent, named })
}

function loadsOf(q: Queries, executions: Executions, served: Served): ReadonlyMap<RunnerId, RunnerLoad> {
  const running = new Map<RunnerId, Map<ProjectId, number>>()
  for (const { record } of executions.running().values()) {
    if (record.runner_id === null) continue
    const byProject = running.get(record.runner_id) ?? new Map<ProjectId, number>()
    running.set(record.runner_id, byProject.set(record.project_id, (byProject.get(record.project_id) ?? 0) + 1))
  }
  const load = ({ id, state, capacity, projects }: RunnerRecord): RunnerLoad => ({
    state,
    capacity,
    projects,
    running: running.get(id) ?? new Map(),
    served: served.get(id) ?? new Map(),
  })
  return new Map(q.runners.list().map((runner) => [runner.id, load(runner)]))
}

/** Caches reads, because many entries wait for the same agent and project. */
function rememberingOnce(q: Queries): Queries {
  return {
    ...q,
    projects: { ...q.projects, get: once(q.projects.get) },
    agents: { ...q.agents, get: once(q.agents.get) },
    usage: { ...q.usage, spent: onceByText(q.usage.spent) },
  }
}

function once<K, V>(read: (key: K) => V): (key: K) => V {
  const known = new Map<K, V>()
  return (key) => {
    const found = known.get(key)
    if (found !== undefined) return found
    const value = read(key)
    known.set(key, value)
    return value
  }
}

function onceByText<K, V>(read: (key: K, now: string) => V): (key: K, now: string) => V {
  const known = new Map<string, V>()
  return (key, now) => {
    const text = JSON.stringify(key)
    const value = known.get(text) ?? read(key, now)
    known.set(text, value)
    return value
  }
}

function waitReason(q: Queries, record: OpenExecution): WaitReason | null {
  if (!record.dispatched) return 'entering'
  const behind = messageWaitReason(q, record)
  if (behind) return behind
  if (record.agent_id === null) return null
  if (q.projects.get(record.project_id)?.paused_at !== null) return 'project_paused'
  return q.agents.get(record.agent_id)?.paused ? 'agent_paused' : null
}

/** Of several tasks that share a worktree, the next one waits for the end of the running execution. */
function busyWorktree(q: Queries, record: OpenExecution, taken: ReadonlyMap<TaskId, TaskId>): WaitReason | null {
  const worktree = worktreeOf(q, record)
  const holder = worktree === null ? undefined : taken.get(worktree)
  return holder === undefined || holder === record.task_id ? null : 'worktree_busy'
}

function noSlot(q: Queries, record: OpenExecution, running: ReadonlyMap<ProjectId, number>): WaitReason | null {
  const project = record.agent_id === null ? null : q.projects.get(record.project_id)
  if (!project) return null
  return (running.get(project.id) ?? 0) < toSettings(project).max_concurrent_executions ? null : 'slots_full'
}

function countRunning(executions: Executions): Map<ProjectId, number> {
  const count = new Map<ProjectId, number>()
  for (const { record } of executions.running().values())
    count.set(record.project_id, (count.get(record.project_id) ?? 0) + 1)
  return count
}

/** Returns the task whose worktree an agent works in; null for a person, who needs no free worktree. */
function worktreeOf(q: Queries, record: Pick<OpenExecution, 'agent_id' | 'task_id'>): TaskId | null {
  const task = record.agent_id === null ? null : q.tasks.get(record.task_id)
  return task && workspaceOwner(q, task).id
}

/** Returns the worktrees in use by an agent, here or elsewhere, each with the task that it works for. */
function takenWorktrees(q: Queries, executions: Executions): Map<TaskId, TaskId> {
  const local = [...executions.running().values()].map((run) => run.record)
  const elsewhere = q.executions.queue().filter((one) => one.status === 'running')
  const taken = new Map<TaskId, TaskId>()
  for (const record of [...local, ...elsewhere]) {
    const worktree = worktreeOf(q, record)
    if (worktree !== null) taken.set(worktree, record.task_id)
  }
  return taken
}
