import type { ExecutionId, ProjectId, TaskId } from '../../src-shared/contract/ids.ts'
import { roleOf } from '../domain/workflow/graph.ts'
import type { EngineContext } from './context.ts'
import type { Executions } from './executions.ts'
import { isOfThisStay, openExecution } from './open-execution.ts'
import type { PluginResult } from './plugins/plugin.ts'
import type { ExecutionRecord, Queries, TaskRecord } from './store-port.ts'
import type { Transitions } from './transitions.ts'
import { toSettings, toTask } from './views.ts'
import { workspaceOwner } from './workspace-of.ts'

export interface Scheduler {
  /** The turn of the state's role has come: its agent gets an execution, which starts when a slot is free. */
  dispatch(task: TaskRecord): Promise<PluginResult>
  /** Starts what may start, oldest first, within each project's slots. */
  pump(): void
  /** Starts nothing any more. */
  close(): void
}

export function createScheduler(deps: {
  context: EngineContext
  transitions: Transitions
  executions: () => Executions
}): Scheduler {
  const { context, transitions } = deps
  let closed = false
  const pump = () => {
    if (closed) return
    const running = countRunning(deps.executions())
    const taken = takenWorktrees(context.store.read, deps.executions())
    for (const record of context.store.read.executions.open()) {
      if (record.status !== 'queued' || !record.dispatched || deps.executions().running().has(record.id)) continue
      if (!mayStart(context, record, running)) continue
      const worktree = worktreeOf(context.store.read, record)
      // Of several tasks that work in one worktree, the next one's turn comes when this one's execution ends.
      if (worktree !== null && (taken.get(worktree) ?? record.task_id) !== record.task_id) continue
      if (worktree !== null) taken.set(worktree, record.task_id)
      running.set(record.project_id, (running.get(record.project_id) ?? 0) + 1)
      void start(deps, record.id)
    }
  }
  return {
    pump,
    close: () => {
      closed = true
    },
    dispatch: (task) => {
      const result = context.feed.commit((tx): PluginResult => {
        const state = transitions.workflowOf(tx, task).states.get(task.status)
        const role = state && roleOf(state)
        if (!state || !role) return { kind: 'skipped', reason: 'no_role' }
        const runs = deps.executions().running()
        // One that is being ended does not count, nor one of an agent that moved its task here: they were another entry's.
        const open = tx.executions
          .openOfTask(task.id)
          .find((one) => one.role === role && !runs.get(one.id)?.stopped && isOfThisStay(tx, one))
        const holder = task.roles[role]
        if (open && !open.dispatched) tx.executions.put({ ...open, dispatched: true })
        if (open) return { kind: 'ok' }
        if (holder?.type !== 'agent') return { kind: 'skipped', reason: holder ? 'person' : 'no_agent' }
        if (!tx.agents.get(holder.id)) return agentGone(role)
        const judges = state.kind === 'gate'
        const record = openExecution(context, tx, {
          task,
          role,
          judges,
          assignee: holder,
          overrides: {},
          resume: false,
          dispatched: true,
        })
        const claimed = { ...task, active_execution_id: record.id }
        tx.tasks.put(claimed)
        tx.emit('task.updated', { project_id: task.project_id, task_id: task.id, task: toTask(tx, claimed) })
        return { kind: 'ok' }
      })
      pump()
      return Promise.resolve(result)
    },
  }
}

function agentGone(role: string): PluginResult {
  const message = `The agent with the role ${role} was deleted. Give the role to another.`
  return {
    kind: 'failed',
    reason: message,
    annotation: { type: 'execution_failed', message, recovery_actions: ['retry_execution'] },
  }
}

async function start(deps: { context: EngineContext; executions: () => Executions }, id: ExecutionId): Promise<void> {
  try {
    await deps.executions().start(id)
  } catch (error) {
    deps.context.log.error({ err: error, execution_id: id }, 'an execution could not be started')
  }
}

function countRunning(executions: Executions): Map<ProjectId, number> {
  const count = new Map<ProjectId, number>()
  for (const { record } of executions.running().values())
    count.set(record.project_id, (count.get(record.project_id) ?? 0) + 1)
  return count
}

/** Whose worktree an agent works in; null for a person, who needs none to be free. */
function worktreeOf(q: Queries, record: ExecutionRecord): TaskId | null {
  const task = record.agent_id === null ? null : q.tasks.get(record.task_id)
  return task && workspaceOwner(q, task).id
}

/** The worktrees that an agent is at work in, here or elsewhere, each with the task that it works for. */
function takenWorktrees(q: Queries, executions: Executions): Map<TaskId, TaskId> {
  const here = [...executions.running().values()].map((run) => run.record)
  const elsewhere = q.executions.open().filter((one) => one.status === 'running')
  const taken = new Map<TaskId, TaskId>()
  for (const record of [...here, ...elsewhere]) {
    const worktree = worktreeOf(q, record)
    if (worktree !== null) taken.set(worktree, record.task_id)
  }
  return taken
}

function mayStart(context: EngineContext, record: ExecutionRecord, running: ReadonlyMap<ProjectId, number>): boolean {
  if (record.agent_id === null) return true
  const { read } = context.store
  const project = read.projects.get(record.project_id)
  if (!project || project.paused_at !== null || read.agents.get(record.agent_id)?.paused) return false
  return (running.get(record.project_id) ?? 0) < toSettings(project).max_concurrent_executions
}
