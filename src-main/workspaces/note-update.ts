import type { ErrorAnnotation, HookOutcome } from '../../src-shared/contract/tasks.ts'
import type { Ground } from '../core/ground.ts'
import type { Tx } from '../core/event-feed.ts'
import type { UpdateResult } from '../ports/branch-updater.ts'
import type { Worktrees } from './worktrees.ts'
import { saveWorkspace } from './save-workspace.ts'
import { toConflictHunks } from './to-conflict-hunks.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { WorkspaceRecord } from '../ports/workspace-queries.ts'
import { WorkspaceError } from '../ports/workspace-error.ts'
import { workspaceOwner } from '../core/workspace-of.ts'
import { count } from './rules/conflict-text.ts'

interface NoteUpdateDeps {
  readonly context: Ground
  readonly worktrees: Pick<Worktrees, 'ref'>
}

export interface Update {
  readonly task: TaskRecord
  readonly workspace: WorkspaceRecord
  readonly result: UpdateResult
  readonly triggered_by: string
}

/** Saves the result of an update of a task's branch and emits it for its card, its timeline and its workspace. */
export async function noteUpdate(deps: NoteUpdateDeps, update: Update): Promise<void> {
  const { task, result } = update
  if (result.kind === 'up_to_date' || result.kind === 'in_the_way') return
  const diff_stat = result.kind === 'updated' ? await measure(deps, update) : null
  deps.context.feed.commit((tx) => {
    const current = tx.tasks.get(task.id)
    if (!current) return
    noteWorkspace(tx, current, update)
    const annotation = annotationAfter(deps.context, current, update)
    const isNews = annotation !== current.error_annotation || diff_stat !== null
    if (isNews) {
      const measured = diff_stat === null ? {} : { diff_stat }
      tx.saveTask({ ...current, ...measured, error_annotation: annotation })
    }
    noteInTimeline(tx, current, update)
  })
}

/** Emits the workspace even if its record is unchanged, because the branch has moved. */
function noteWorkspace(tx: Tx, task: TaskRecord, { workspace, result }: Update): void {
  const known = tx.workspaces.byTask(workspace.task_id)
  if (!known) return
  const base_commit = result.kind === 'updated' ? result.base : known.base_commit
  const record = { ...known, base_commit }
  if (known.status !== 'cleaned') {
    saveWorkspace(tx, workspaceOwner(tx, task), record)
    return
  }
  // A cleaned workspace is not set to be cleaned again; only its branch has moved.
  tx.workspaces.put(record)
  const { id: workspace_id, task_id, branch, status, cleanup_at } = record
  tx.emit('workspace.updated', { project_id: task.project_id, task_id, workspace_id, branch, status, cleanup_at })
}

/**
 * Returns the annotation of a task whose merge failed, with the state of the conflict; the merge must still be
 * retried.
 */
function annotationAfter(context: Ground, task: TaskRecord, { workspace, result }: Update): ErrorAnnotation | null {
  const before = task.error_annotation
  if (before?.type !== 'merge_conflict') return before
  const { base_branch, branch, path } = workspace
  if (result.kind === 'conflict') {
    const { files, left } = result
    if (!left) return before
    const message = `The merge of ${base_branch} is in progress in ${path}: ${count(files)}. Resolve it there, then retry the merge.`
    return { ...before, message, files: [...files], hunks: toConflictHunks(context, task, result.hunks) }
  }
  const message = `${branch} has all of ${base_branch} now. Try the merge again.`
  return { ...before, message, files: [], hunks: [] }
}

/** Adds the update to the transition into the current state. */
function noteInTimeline(tx: Tx, task: TaskRecord, { workspace, result, triggered_by }: Update): void {
  const entry = tx.transitions.last(task.id)
  const text = wordsFor(workspace, result)
  if (!entry || text === null) return
  const hook: HookOutcome = {
    phase: 'after_enter',
    action: 'update_branch',
    outcome: result.kind === 'updated' ? 'ok' : 'failed',
    reason: `${triggered_by}: ${text}`,
    duration_ms: 0,
  }
  tx.transitions.setHooks(entry.id, [...entry.hooks, hook])
  tx.emit('hook.finished', { project_id: task.project_id, task_id: task.id, transition_id: entry.id, hook })
}

function wordsFor({ branch, base_branch }: WorkspaceRecord, result: UpdateResult): string | null {
  if (result.kind === 'updated') {
    const rescued = result.rescue_ref === null ? '' : `; its commits before that are kept as ${result.rescue_ref}`
    const how = result.strategy === 'rebase' ? `rebased on ${base_branch}` : `has all of ${base_branch} now`
    return `${branch} ${how} (${result.base.slice(0, 12)}) and is at ${result.head.slice(0, 12)}${rescued}`
  }
  if (result.kind !== 'conflict') return null
  const where = result.left ? '; the merge is in progress in the worktree' : ''
  return `${count(result.files)} with ${base_branch} (${result.base.slice(0, 12)})${where}: ${result.files.slice(0, 20).join(', ')}`
}

/** Measures the diff. If that fails, keeps the old size, because the branch is updated anyway. */
async function measure({ context, worktrees }: NoteUpdateDeps, { task, workspace }: Update) {
  const signal = AbortSignal.timeout(60_000)
  try {
    return await context.places.of(workspace.task_id).diffs.diffStat(await worktrees.ref(workspace), { signal })
  } catch (error) {
    if (!(error instanceof WorkspaceError) && !signal.aborted) throw error
    context.log.warn({ err: error, task_id: task.id }, 'the size of an updated branch could not be measured')
    return null
  }
}
