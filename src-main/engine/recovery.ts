import type { ErrorAnnotation } from '../../src-shared/contract/tasks.ts'
import { roleOf } from '../domain/workflow/graph.ts'
import { hookTestMark } from './lifecycle/test-hook.ts'
import { noteWorkStop, worksFor } from './lifecycle/note-occasion.ts'
import { cancelQueued } from './executions/open-execution.ts'
import type { StepDeps } from './moves/perform-step.ts'
import type { ExecutionRecord } from './ports/store.ts'
import { toExecution } from './views.ts'
import { workspaceOf } from './worktrees/workspace-of.ts'

/**
 * Puts right what a killed service left behind: ends what still runs, says so on the tasks, gives
 * locks back. The pending effects and the queue are taken up by the caller afterwards.
 */
export async function recover(deps: StepDeps): Promise<void> {
  const { context } = deps
  const open = context.store.read.executions.open()
  for (const task_id of context.store.read.effects.pendingTasks()) {
    const mark = context.store.read.effects.first(task_id)?.data.mark
    if (mark !== undefined) await context.scripts.reap(mark)
  }
  for (const record of open) {
    if (!isElsewhere(deps, record)) {
      // One that still waits may have got a process already: the crash came before that was written down.
      const { pid, pid_started: started } = record
      await context.executors.reap(pid === null || started === null ? null : { pid, started }, record.id)
    }
    if (record.status === 'queued') cancelUnlessItsTurn(deps, record)
    if (record.status !== 'running' || isElsewhere(deps, record)) continue
    context.agentTokens.revoke(record.id)
    const task = context.store.read.tasks.get(record.task_id)
    const workspace = task && workspaceOf(context.store.read, task)
    if (workspace) await context.workspaces.unlock(workspace.path, record.id)
    markLost(deps, record, lostWithService)
  }
  const released = await context.workspaces.releaseStaleLocks(context.config.workspaceRoot)
  const orphans = await context.workspaces.orphans(context.config.workspaceRoot, context.store.read.workspaces.paths())
  const tried = await context.workspaces.removeLeftScratch(context.config.workspaceRoot, (path) =>
    context.scripts.reap(hookTestMark(path)),
  )
  if (tried.length > 0) context.log.info({ paths: tried }, 'throw-away worktrees of a killed service were removed')
  if (released.length > 0) context.log.info({ paths: released }, 'locks without a process were released')
  if (orphans.length > 0)
    context.log.warn({ paths: orphans }, 'directories under the workspace root belong to no task; they are left alone')
}

const lostWithService =
  'The service ended while the agent worked. What it had written is in the worktree. Resume it, or run it again.'

/** The crash came after the task had moved on and before what waited for the old state was told. */
function cancelUnlessItsTurn(deps: StepDeps, record: ExecutionRecord): void {
  const { context, transitions } = deps
  context.feed.commit((tx) => {
    const task = tx.tasks.get(record.task_id)
    const state = task && transitions.workflowOf(tx, task).states.get(task.status)
    if (!state || roleOf(state) !== record.role) cancelQueued(tx, record, 'The task moved on before it started.')
  })
}

/** It runs out of our sight: a person's, or an agent's that heartbeats. */
function isElsewhere(deps: StepDeps, record: ExecutionRecord): boolean {
  return record.executor === 'person' || deps.context.executors.hosting(record.executor) === 'elsewhere'
}

/** An execution whose process is out of reach: its work is in the worktree, and somebody must say what next. */
export function markLost(deps: StepDeps, found: ExecutionRecord, message: string): void {
  const { context, transitions } = deps
  context.feed.commit((tx) => {
    const record = tx.executions.get(found.id)
    if (record?.status !== 'running') return
    const lost: ExecutionRecord = {
      ...record,
      status: 'lost',
      error: message,
      pid: null,
      pid_started: null,
      finished_at: tx.now(),
    }
    tx.executions.put(lost)
    tx.emit('execution.finished', {
      project_id: record.project_id,
      task_id: record.task_id,
      execution: toExecution(lost),
    })
    const task = tx.tasks.get(record.task_id)
    if (!task) return
    const workflow = transitions.workflowOf(tx, task)
    if (worksFor(tx, workflow, task, record))
      noteWorkStop(tx, workflow, task, { execution: lost, from: task.status, triggered_by: 'system' })
    const state = workflow.states.get(task.status)
    const isItsTurn = state !== undefined && roleOf(state) === record.role
    const annotation: ErrorAnnotation = {
      type: 'execution_lost',
      message,
      execution_id: record.id,
      recovery_actions: record.session_id === null ? ['retry_execution'] : ['resume', 'retry_execution'],
    }
    tx.saveTask({
      ...task,
      active_execution_id: task.active_execution_id === record.id ? null : task.active_execution_id,
      error_annotation: isItsTurn ? annotation : task.error_annotation,
    })
  })
}
