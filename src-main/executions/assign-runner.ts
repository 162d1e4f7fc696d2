import type { Ground } from '../core/ground.ts'
import { workspaceOwner } from '../core/workspace-of.ts'
import { hereRunner } from '../../src-shared/contract/runners.ts'
import type { ExecutionRecord } from '../ports/execution-queries.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { saveWorkspace } from '../workspaces/save-workspace.ts'
import type { Worktrees } from '../workspaces/worktrees.ts'

/**
 * Has the task's worktree use the runner of a run that starts, before anything is asked of its place: after a crash,
 * what the run left is looked for there. A session is continued only where it was: elsewhere it begins anew.
 */
export async function assignRunner(
  context: Ground,
  worktrees: Pick<Worktrees, 'plan'>,
  task: TaskRecord,
  record: ExecutionRecord,
): Promise<ExecutionRecord> {
  const { runner_id } = record
  if (runner_id === null || record.agent_id === null) return record
  const { read } = context.store
  const owner = workspaceOwner(read, task)
  // The agent's home in a pod, with its sessions, ends with the pod.
  const keepsHomes = runner_id === hereRunner || read.runners.get(runner_id)?.kind !== 'kubernetes'
  const session_id = keepsHomes && sessionRunner(context, record) === runner_id ? record.session_id : null
  const isThere = (read.workspaces.byTask(owner.id)?.runner_id ?? hereRunner) === runner_id
  const assigned = { ...record, session_id }
  if (isThere && runner_id === hereRunner && session_id === record.session_id) return assigned
  await context.writes.untilWritten(() =>
    context.feed.commit((tx) => {
      const queued = tx.executions.get(record.id)
      if (queued?.status === 'queued') tx.executions.put({ ...queued, runner_id, session_id })
      const project = tx.projects.get(task.project_id)
      // A parent's worktree is made by the parent.
      const known = owner.id === task.id && project ? worktrees.plan(tx, task, project) : tx.workspaces.byTask(owner.id)
      if (known && known.runner_id !== runner_id) saveWorkspace(tx, owner, { ...known, runner_id })
    }),
  )
  return assigned
}

/** Returns the runner where the session of a run was last. */
function sessionRunner(context: Ground, { id, task_id, session_id, runner_id }: ExecutionRecord) {
  if (session_id === null) return runner_id
  const before = context.store.read.executions
    .byTask(task_id)
    .find((one) => one.id !== id && one.session_id === session_id && one.started_at !== null)
  return before?.runner_id ?? runner_id
}
