import type { HookOutcome } from '../../src-shared/contract/tasks.ts'
import { isPerson } from '../domain/transition/audience.ts'
import type { EngineContext } from '../core/context.ts'
import type { Tx } from '../core/event-feed.ts'
import { toNotes } from '../transitions/review-attempts.ts'
import type { ExecutionRecord, TaskRecord } from '../ports/store.ts'
import type { ReviewRecord } from '../ports/review-queries.ts'
import { WorkspaceError, type RepositoryState } from '../ports/workspaces.ts'
import { toReviewSummary } from '../core/views.ts'
import { workspaceOf } from '../core/workspace-of.ts'

const limitMs = 60_000

/**
 * Reads the files and settings that control git in a worktree's repository; null, with a warning in the log, on an
 * error.
 */
export async function readRepositoryState(
  { workspaces, log }: Pick<EngineContext, 'workspaces' | 'log'>,
  path: string,
): Promise<RepositoryState | null> {
  const signal = AbortSignal.timeout(limitMs)
  try {
    return (await workspaces.exists(path)) ? await workspaces.repositoryState(path, { signal }) : null
  } catch (error) {
    if (!(error instanceof WorkspaceError) && !signal.aborted) throw error
    log.warn({ err: error, path }, 'a repository could not be looked at before or after a run')
    return null
  }
}

/** Returns what changed in the repository since a run started. */
export async function findRepositoryChanges(
  context: EngineContext,
  { task_id, repository_state: before }: ExecutionRecord,
): Promise<readonly string[]> {
  const task = context.store.read.tasks.get(task_id)
  const workspace = task && workspaceOf(context.store.read, task)
  if (!workspace || before === null) return []
  const now = await readRepositoryState(context, workspace.path)
  if (now === null) return []
  const paths = [...new Set([...Object.keys(before), ...Object.keys(now)])]
  return paths.filter((path) => before[path] !== now[path]).sort()
}

/** Records the changes so far during a task's open runs. */
export async function noteOpenRuns(context: EngineContext, task: TaskRecord): Promise<void> {
  const open = context.store.read.executions.openOfTask(task.id)
  const found = await Promise.all(open.map((record) => findRepositoryChanges(context, record)))
  const paths = found.flat()
  if (paths.length === 0) return
  context.feed.commit((tx) => {
    const current = tx.tasks.get(task.id)
    const noted = current && noteRepositoryChanges(tx, current, paths)
    if (noted && noted !== current) tx.saveTask(noted)
  })
}

/**
 * Adds paths that a person has to review, and shows them at the open review. A passed review is opened again while its
 * task is still in that state. Returns the task for the caller to save; the same one if there is nothing new.
 */
export function noteRepositoryChanges(tx: Tx, task: TaskRecord, paths: readonly string[]): TaskRecord {
  const isKnown = paths.every((path) => task.repository_changes.includes(path))
  if (isKnown) return task
  const repository_changes = [...new Set([...task.repository_changes, ...paths])].sort()
  const noted = { ...task, repository_changes }
  noteInTimeline(tx, task, paths)
  const review = tx.reviews.latest(task.id)
  const isShown = review?.status === 'running' || review?.status === 'pending' || task.review_passed_at !== null
  if (!review || !isShown) return noted
  const shown = { ...review, notes: toNotes(noted) }
  const reopened = isPassedByAgents(review) ? { ...shown, status: 'running' as const, finished_at: null } : shown
  tx.reviews.put(reopened)
  tx.emit('review.updated', { project_id: task.project_id, task_id: task.id, review: reopened })
  return reopened.status === 'running'
    ? { ...noted, review_passed_at: null, review_summary: toReviewSummary(reopened) }
    : noted
}

/** Adds the paths to the transition into the current state. */
function noteInTimeline(tx: Tx, task: TaskRecord, paths: readonly string[]): void {
  const entry = tx.transitions.last(task.id)
  if (!entry) return
  const named = paths.slice(0, 20).join(', ')
  const reason = `The repository itself changed during a run: ${named}${paths.length > 20 ? ' …' : ''}`
  const hook: HookOutcome = {
    phase: 'after_enter',
    action: 'repository_changed',
    outcome: 'ok',
    reason,
    duration_ms: 0,
  }
  tx.transitions.setHooks(entry.id, [...entry.hooks, hook])
  tx.emit('hook.finished', { project_id: task.project_id, task_id: task.id, transition_id: entry.id, hook })
}

function isPassedByAgents({ status, verdicts }: ReviewRecord): boolean {
  return status === 'passed' && !verdicts.some(({ by, verdict }) => verdict === 'pass' && isPerson(by))
}
