import { roleOf } from '../domain/workflow/graph.ts'
import { markExecutionLost } from '../executions/mark-execution-lost.ts'
import { readUsage } from '../executions/read-usage.ts'
import { cancelQueued } from '../core/execution-records.ts'
import { scratchMark } from '../workspaces/scratch-mark.ts'
import type { EngineContext } from '../core/context.ts'
import type { StepServices } from '../steps/step-services.ts'
import type { ExecutionRecord } from '../ports/execution-queries.ts'
import { WorkspaceError } from '../ports/workspaces.ts'
import { repoPathsOf } from '../core/repo-paths.ts'
import { trustKnownRepositories } from '../projects/trust-repository.ts'
import { findRepositoryChanges, noteRepositoryChanges, noteRunFindings } from '../workspaces/repository-changes.ts'
import { findRunFindings } from '../workspaces/work-elsewhere.ts'
import { workspaceOf } from '../core/workspace-of.ts'

/**
 * Repairs what a killed service left: ends leftover processes, marks their tasks, releases locks. The caller then
 * starts pending effects and the queue.
 */
export async function recover(deps: StepServices): Promise<void> {
  const { context } = deps
  await trustKnownRepositories(context)
  const open = context.store.read.executions.open()
  for (const task_id of context.store.read.effects.pendingTasks()) {
    const processMarker = context.store.read.effects.first(task_id)?.data.process_marker
    if (processMarker !== undefined) await context.scripts.reap(processMarker)
  }
  for (const record of open) {
    // A queued run may have a process already, if the crash came before it was saved.
    if (record.status === 'queued' && !isElsewhere(context, record)) await reapProcess(context, record)
    if (record.status === 'queued') cancelUnlessItsTurn(deps, record)
    if (record.status === 'running' && !isElsewhere(context, record)) await loseRun(deps, record, lostWithService)
  }
  await finishMerges(context)
  const released = await context.workspaces.releaseStaleLocks(context.config.workspaceRoot)
  const orphans = await context.workspaces.orphans(context.config.workspaceRoot, context.store.read.workspaces.paths())
  const tried = await context.workspaces.removeStaleScratch(context.config.workspaceRoot, (path) =>
    context.scripts.reap(scratchMark(path)),
  )
  if (tried.length > 0) context.log.info({ paths: tried }, 'throw-away worktrees of a killed service were removed')
  if (released.length > 0) context.log.info({ paths: released }, 'locks without a process were released')
  if (orphans.length > 0)
    context.log.warn({ paths: orphans }, 'directories under the workspace root belong to no task; they are left alone')
}

type LostDeps = Pick<StepServices, 'context' | 'transitions' | 'worktrees'>

/** Records the repository changes of a run whose end the service did not see. */
async function noteChangesOf(deps: LostDeps, record: ExecutionRecord): Promise<void> {
  const found = await findRunFindings(deps, record)
  const paths = await findRepositoryChanges(deps.context, record)
  if (found.notes.length + found.places.length + paths.length === 0) return
  deps.context.feed.commit((tx) => {
    const task = tx.tasks.get(record.task_id)
    const noted = task && noteRunFindings(tx, noteRepositoryChanges(tx, task, paths), found)
    if (noted && noted !== task) tx.saveTask(noted)
  })
}

/** Runs first, because until then git refuses commits in the checkout. */
async function finishMerges({ workspaces, store, log }: EngineContext): Promise<void> {
  const { signal } = new AbortController()
  const finish = async (path: string): Promise<void> => {
    try {
      await workspaces.finishMerges(path, { signal })
    } catch (error) {
      if (!(error instanceof WorkspaceError)) throw error
      log.warn({ err: error, path }, 'it could not be seen whether a killed service left a merge half done')
    }
  }
  await Promise.all([...repoPathsOf(store.read)].map(finish))
}

/** Ends what is left of an unsupervised local run, releases what it held, and marks its task. */
export async function loseRun(deps: LostDeps, record: ExecutionRecord, message: string): Promise<void> {
  const { context } = deps
  await reapProcess(context, record)
  context.agentTokens.revoke(record.id)
  const task = context.store.read.tasks.get(record.task_id)
  const workspace = task && workspaceOf(context.store.read, task)
  if (workspace) await context.workspaces.unlock(workspace.path, record.id)
  await noteChangesOf(deps, record)
  markExecutionLost(deps, { ...record, usage: record.usage ?? (await readUsage(context, record)) }, message)
}

async function reapProcess({ executors }: EngineContext, { id, pid, pid_started: started }: ExecutionRecord) {
  await executors.reap(pid === null || started === null ? null : { pid, started }, id)
}

const lostWithService = 'Copse stopped while the agent was working. Its work is in the worktree. Resume to continue.'

/** Cancels an execution of an earlier state, if the crash came after the move and before its cancellation. */
function cancelUnlessItsTurn(deps: StepServices, record: ExecutionRecord): void {
  const { context, transitions } = deps
  context.feed.commit((tx) => {
    const task = tx.tasks.get(record.task_id)
    const state = task && transitions.workflowOf(tx, task).states.get(task.status)
    if (!state || roleOf(state) !== record.role) cancelQueued(tx, record, 'The task moved on before it started.')
  })
}

/** Returns whether the run is not supervised here: a person's, or an agent's that sends heartbeats. */
export function isElsewhere({ executors }: Pick<EngineContext, 'executors'>, record: ExecutionRecord): boolean {
  return record.executor === 'person' || executors.location(record.executor) === 'remote'
}
