import { needsPerson, type ReviewNote } from '../../src-shared/contract/reviews.ts'
import type { HookOutcome } from '../../src-shared/contract/tasks.ts'
import { isPerson } from '../domain/transition/audience.ts'
import type { Ground } from '../core/ground.ts'
import type { Tx } from '../core/event-feed.ts'
import { toNotes } from '../transitions/review-attempts.ts'
import type { ExecutionRecord } from '../ports/execution-queries.ts'
import type { RunFindings, TaskRecord } from '../ports/task-queries.ts'
import type { ReviewRecord } from '../ports/review-queries.ts'
import type { WorkspaceRecord } from '../ports/workspace-queries.ts'
import { WorkspaceError } from '../ports/workspace-error.ts'
import type { RepositoryState } from '../ports/repository-state.ts'
import { toReviewSummary } from '../core/views.ts'
import { workspaceOf } from '../core/workspace-of.ts'

const limitMs = 60_000

/**
 * Reads the files and settings that control git in a worktree's repository; null, with a warning in the log, on an
 * error.
 */
export async function readRepositoryState(
  { places, log }: Pick<Ground, 'places' | 'log'>,
  { task_id, path }: Pick<WorkspaceRecord, 'task_id' | 'path'>,
  refs: boolean,
): Promise<RepositoryState | null> {
  const { worktrees } = places.of(task_id)
  const signal = AbortSignal.timeout(limitMs)
  try {
    return (await worktrees.exists(path)) ? await worktrees.repositoryState(path, { signal, refs }) : null
  } catch (error) {
    if (!(error instanceof WorkspaceError) && !signal.aborted) throw error
    log.warn({ err: error, path }, 'a repository could not be looked at before or after a run')
    return null
  }
}

/** Returns what changed in the repository since a run started. */
export async function findRepositoryChanges(
  context: Ground,
  { task_id, repository_state: before }: ExecutionRecord,
): Promise<readonly string[]> {
  const task = context.store.read.tasks.get(task_id)
  const workspace = task && workspaceOf(context.store.read, task)
  if (!workspace || before === null) return []
  const now = await readRepositoryState(context, workspace, false)
  if (now === null) return []
  const paths = [...new Set([...Object.keys(before), ...Object.keys(now)])].filter((path) => !isRef(path))
  return paths.filter((path) => before[path] !== now[path]).sort()
}

/** Refs and the stash list have notes of their own; a replaced object changes what git shows. */
const isRef = (path: string): boolean =>
  ['stash', 'time', 'logs'].includes(path) || (path.startsWith('refs/') && !path.startsWith('refs/replace/'))

/** Records the changes so far during a task's open runs. */
export async function noteOpenRuns(context: Ground, task: TaskRecord): Promise<void> {
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
  const named = paths.slice(0, 20).join(', ')
  const reason = `The repository itself changed during a run: ${named}${paths.length > 20 ? ' …' : ''}`
  noteInTimeline(tx, task, 'repository_changed', reason)
  return showAtReview(tx, { ...task, repository_changes }, true)
}

/** Adds what runs left besides the task's branch, like `noteRepositoryChanges`. */
export function noteRunFindings(tx: Tx, task: TaskRecord, found: RunFindings): TaskRecord {
  const notes = newOnes(task.run_findings.notes, found.notes)
  const places = newOnes(task.run_findings.places, found.places)
  if (notes.length + places.length === 0) return task
  for (const note of notes) noteInTimeline(tx, task, note.kind, describeNote(note))
  const run_findings = {
    ...task.run_findings,
    notes: [...task.run_findings.notes, ...notes],
    places: [...task.run_findings.places, ...places],
  }
  return showAtReview(tx, { ...task, run_findings }, notes.some(needsPerson))
}

/** Replaces the notes of one kind by what is true now, and shows that at the open review. */
export function replaceNotes(
  tx: Tx,
  task: TaskRecord,
  kind: ReviewNote['kind'],
  notes: readonly ReviewNote[],
): TaskRecord {
  const known = task.run_findings.notes.filter((note) => note.kind === kind)
  if (JSON.stringify(known) === JSON.stringify(notes)) return task
  const added = newOnes(known, notes)
  for (const note of added) noteInTimeline(tx, task, note.kind, describeNote(note))
  const others = task.run_findings.notes.filter((note) => note.kind !== kind)
  const run_findings = { ...task.run_findings, notes: [...others, ...notes] }
  return showAtReview(tx, { ...task, run_findings }, added.some(needsPerson))
}

function newOnes<T>(known: readonly T[], found: readonly T[]): readonly T[] {
  const keys = new Set(known.map((one) => JSON.stringify(one)))
  return found.filter((one) => !keys.has(JSON.stringify(one)))
}

function showAtReview(tx: Tx, noted: TaskRecord, isForPerson: boolean): TaskRecord {
  const review = tx.reviews.latest(noted.id)
  const isShown = review?.status === 'running' || review?.status === 'pending' || noted.review_passed_at !== null
  if (!review || !isShown) return noted
  const shown = { ...review, notes: toNotes(noted) }
  const isReopened = isForPerson && isPassedByAgents(review)
  const next = isReopened ? { ...shown, status: 'running' as const, finished_at: null } : shown
  tx.reviews.put(next)
  tx.emit('review.updated', { project_id: noted.project_id, task_id: noted.id, review: next })
  return next.status === 'running' ? { ...noted, review_passed_at: null, review_summary: toReviewSummary(next) } : noted
}

/** Adds what was found to the transition into the current state. */
function noteInTimeline(tx: Tx, task: TaskRecord, action: string, reason: string): void {
  const entry = tx.transitions.last(task.id)
  if (!entry) return
  const hook: HookOutcome = { phase: 'after_enter', action, outcome: 'ok', reason, duration_ms: 0 }
  tx.transitions.setHooks(entry.id, [...entry.hooks, hook])
  tx.emit('hook.finished', { project_id: task.project_id, task_id: task.id, transition_id: entry.id, hook })
}

function describeNote(note: ReviewNote): string {
  switch (note.kind) {
    case 'repository_changed':
    case 'hidden_text':
    case 'same_names':
      return note.paths.join(', ')
    case 'base_moved':
    case 'refs_moved':
      return `A run moved ${note.ref} from ${note.from ?? 'nothing'} to ${note.to ?? 'nothing'}.`
    case 'base_rewritten':
      return `The base branch no longer has ${count(note.commits.length)} that this branch began from.`
    case 'mass_deletion':
      return `The work deletes ${note.deleted} of ${note.of} files.`
    case 'secret':
      return `The work seems to add a secret: ${[...note.files.map(({ path }) => path), ...note.commits].join(', ')}`
    case 'work_taken':
      return `${count(note.commits)} taken from ${note.from}, where the agent worked.`
    case 'work_left':
      return `The agent left ${count(note.commits)} on ${note.ref}.`
    case 'unasked':
      return `The agent didn't ask, although it must: ${note.actions.join(', ')}`
  }
}

const count = (commits: number): string => (commits === 1 ? '1 commit' : `${commits} commits`)

function isPassedByAgents({ status, verdicts }: ReviewRecord): boolean {
  return status === 'passed' && !verdicts.some(({ by, verdict }) => verdict === 'pass' && isPerson(by))
}
