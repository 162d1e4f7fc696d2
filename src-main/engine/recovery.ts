import { roleOf } from '../domain/workflow/graph.ts'
import { markExecutionLost } from '../executions/mark-execution-lost.ts'
import { isHeld } from '../executions/take-up.ts'
import { readUsage } from '../executions/read-usage.ts'
import { cancelQueued } from '../core/execution-records.ts'
import { scratchMark } from '../workspaces/scratch-mark.ts'
import type { Place } from '../ports/place.ts'
import type { EngineContext } from './engine-context.ts'
import type { StepServices } from '../steps/step-services.ts'
import type { ExecutionRecord } from '../ports/execution-queries.ts'
import { WorkspaceError } from '../ports/workspace-error.ts'
import { repoPathsOf } from '../core/repo-paths.ts'
import { trustKnownRepositories } from '../projects/trust-repository.ts'
import { findRepositoryChanges, noteRepositoryChanges, noteRunFindings } from '../workspaces/repository-changes.ts'
import { findRunFindings } from '../workspaces/work-elsewhere.ts'
import { reapIn, reapScripts, unlessUnreachable } from '../core/reap-scripts.ts'
import { workspaceOf } from '../core/workspace-of.ts'

/**
 * Repairs what a killed service left: ends leftover processes, marks their tasks, releases locks, goes on with runs that
 * other machines have. The caller then
 * starts pending effects and the queue.
 */
export async function recover(
  deps: StepServices & LostDeps,
  takeUp: (record: ExecutionRecord) => Promise<boolean>,
): Promise<void> {
  const { context } = deps
  await trustKnownRepositories(context)
  const open = context.store.read.executions.open()
  for (const task_id of context.store.read.effects.pendingTasks()) {
    const processMarker = context.store.read.effects.first(task_id)?.data.process_marker
    if (processMarker !== undefined) await reapScripts(context, task_id, processMarker)
  }
  for (const record of open) {
    // A queued run may have a process already, if the crash came before it was saved.
    if (record.status === 'queued' && !isElsewhere(context, record)) await reapProcess(context, record)
    if (record.status === 'queued') cancelUnlessItsTurn(deps, record)
    if (record.status === 'running' && !isElsewhere(context, record) && !isHeld(context, record))
      await loseRun(deps, record, lostWithService)
  }
  await finishMerges(context)
  // Runners whose worktrees are the same ones only differ in where their scripts ran.
  for (const same of Map.groupBy(context.places.all(), ({ orphans }) => orphans).values()) await tidy(context, same)
  for (const record of open)
    if (record.status === 'running' && isHeld(context, record) && !(await takeUp(record)))
      await loseRun(deps, record, lostWithService)
}

/** Removes what a killed service left on one machine. */
async function tidy({ store, log }: Pick<EngineContext, 'store' | 'log'>, places: readonly Place[]): Promise<void> {
  const [first] = places
  if (!first) return
  const { workspaceRoot, locks, orphans, scratch } = first
  const where = places.map(({ scripts }) => scripts)
  const released = await locks.releaseStaleLocks(workspaceRoot)
  const left = await orphans.orphans(workspaceRoot, store.read.workspaces.paths())
  const tried = await scratch.removeStaleScratch(workspaceRoot, (path) => reapIn({ log }, where, scratchMark(path)))
  if (tried.length > 0) log.info({ paths: tried }, 'throw-away worktrees of a killed service were removed')
  if (released.length > 0) log.info({ paths: released }, 'locks without a process were released')
  if (left.length > 0)
    log.warn({ paths: left }, 'directories under the workspace root belong to no task; they are left alone')
}

export interface LostDeps extends Pick<StepServices, 'transitions' | 'worktrees'> {
  readonly context: EngineContext
}

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
async function finishMerges({ target, store, log }: EngineContext): Promise<void> {
  const { signal } = new AbortController()
  const finish = async (path: string): Promise<void> => {
    try {
      await target.finishMerges(path, { signal })
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
  if (workspace) await context.places.of(record.task_id).locks.unlock(workspace.path, record.id)
  await noteChangesOf(deps, record)
  markExecutionLost(deps, { ...record, usage: record.usage ?? (await readUsage(context, record)) }, message)
}

async function reapProcess(context: EngineContext, { id, task_id, pid, pid_started: started }: ExecutionRecord) {
  const known = pid === null || started === null ? null : { pid, started }
  await unlessUnreachable(context, () => context.places.of(task_id).runs.reap(known, id))
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
export function isElsewhere({ places }: Pick<EngineContext, 'places'>, record: ExecutionRecord): boolean {
  return record.executor === 'person' || places.of(record.task_id).runs.location(record.executor) === 'remote'
}
