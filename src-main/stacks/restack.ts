import { noteOnEntry } from '../core/stack-of.ts'
import type { Tx } from '../core/event-feed.ts'
import { refOf, toReviewSummary } from '../core/views.ts'
import { below, stackPhase } from './rules/stack.ts'
import type { RestackMove } from '../ports/branch-updater.ts'
import type { StackMove } from '../ports/stack-place.ts'
import type { Queries } from '../ports/store.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { WorkspaceRecord } from '../ports/workspace-queries.ts'
import type { BranchRef } from '../ports/branch-ref.ts'
import { WorkspaceError } from '../ports/workspace-error.ts'
import { commitMessage, keepMessage } from '../workspaces/commit-message.ts'
import { saveWorkspace } from '../workspaces/save-workspace.ts'
import {
  onBase,
  patchStack,
  placeOf,
  type BroughtBranch,
  type StackDeps,
  type StackedBranch,
  type BranchPlace,
} from './stack-facts.ts'
import { noteTrouble, withoutTrouble } from './stack-trouble.ts'

/** Moves the branch while nothing else can use the worktree. */
export async function bringHeld(
  deps: StackDeps,
  found: StackedBranch,
  signal: AbortSignal,
): Promise<BroughtBranch | null> {
  const { context, worktrees } = deps
  const { task } = found
  const workspace = await finishMove(deps, found, signal)
  const place = placeOf(context.store.read, found)
  const { conflict = null } = workspace.stack ?? {}
  const lay_on = [workspace.base_commit, conflict?.onto].flatMap((commit) => commit ?? [])
  try {
    const request = {
      ...(await worktrees.ref(workspace)),
      task_id: task.id,
      onto_branch: place.onto_branch,
      lay_on,
      asked: conflict?.onto ?? null,
      message: commitMessage(task, task.title),
      keep_message: commitMessage(task, keepMessage),
    }
    const beforeMove = (move: RestackMove): void => {
      patchStack(context, task.id, { moving: { ...move, onto_branch: place.onto_branch, on: place.on } })
    }
    const result = await context.places.of(task.id).branches.restack(request, { signal, beforeMove })
    const done: BroughtBranch = { ...found, workspace, place, result }
    // The coder who resolves the conflict needs a clean worktree.
    if (result.kind === 'conflict' && request.path !== null)
      await context.places.of(task.id).work.commitAll(request.path, request.keep_message, { signal })
    if (result.kind === 'in_the_way') {
      const files = result.files.slice(0, 20).join(', ')
      noteTrouble(
        deps,
        found,
        `Files that git does not keep are where ${place.onto_branch} has others: ${files}. Move them away.`,
      )
      return null
    }
    if (result.kind === 'moved')
      await noteMoved(deps, found, { ...result, onto_branch: place.onto_branch, on: place.on })
    if (result.kind === 'up_to_date') await noteInPlace(deps, found, place, result.onto)
    return done
  } catch (error) {
    if (!(error instanceof WorkspaceError) || signal.aborted) throw error
    noteTrouble(deps, found, error.message)
    return null
  }
}

/** Saves the end of a move that a crash cut short, if the branch has moved. */
async function finishMove(deps: StackDeps, found: StackedBranch, signal: AbortSignal): Promise<WorkspaceRecord> {
  const { context } = deps
  const { task, workspace } = found
  const moving = workspace.stack?.moving ?? null
  if (moving === null) return workspace
  await context.target.finishMerges(workspace.repo_path, { signal })
  const tip = await context.target.tip(workspace.repo_path, workspace.branch, { signal })
  if (tip === moving.to) await noteMoved(deps, found, moving)
  else patchStack(context, task.id, { moving: null })
  return context.store.read.workspaces.byTask(task.id) ?? workspace
}

/** Saves where a branch lies now. */
async function noteMoved(deps: StackDeps, found: StackedBranch, move: StackMove): Promise<void> {
  const place = { ...placeOf(deps.context.store.read, found), on: move.on, onto_branch: move.onto_branch }
  const ref = { ...(await deps.worktrees.ref(found.workspace)), base_branch: place.onto_branch, base_commit: move.onto }
  const diff_stat = await measure(deps, found.task, ref)
  deps.context.feed.commit((tx) => {
    const before = tx.workspaces.byTask(found.task.id)?.stack?.untested ?? null
    const isSame = move.tree_before === move.tree_after && before !== move.tree_before
    savePlace(tx, found.task, { ...place, base_commit: move.onto, untested: isSame ? null : move.tree_after })
    carryReview(tx, found.task, move)
    const task = tx.tasks.get(found.task.id)
    if (!task) return
    noteOnEntry(tx, task, { action: 'restack', outcome: 'ok', reason: placeText(deps, tx, found, place, move.onto) })
    tx.saveTask({ ...task, ...(diff_stat && { diff_stat }) })
  })
}

async function noteInPlace(
  deps: StackDeps,
  found: StackedBranch,
  place: BranchPlace,
  base_commit: string,
): Promise<void> {
  const ref = { ...(await deps.worktrees.ref(found.workspace)), base_branch: place.onto_branch, base_commit }
  const diff_stat = await measure(deps, found.task, ref)
  deps.context.feed.commit((tx) => {
    const hasMoved = (tx.workspaces.byTask(found.task.id)?.stack?.on ?? null) !== place.on
    const untested = tx.workspaces.byTask(found.task.id)?.stack?.untested ?? null
    savePlace(tx, found.task, { ...place, base_commit, untested })
    const task = tx.tasks.get(found.task.id)
    if (!task) return
    if (hasMoved)
      noteOnEntry(tx, task, {
        action: 'restack',
        outcome: 'ok',
        reason: placeText(deps, tx, found, place, base_commit),
      })
    tx.saveTask({ ...task, ...(diff_stat && { diff_stat }) })
  })
}

function placeText(deps: StackDeps, q: Queries, found: StackedBranch, place: BranchPlace, onto: string): string {
  const where = `${found.workspace.branch} lies on ${place.onto_branch} (${onto.slice(0, 12)}) now`
  return `${where}${reasonOf(deps, q, found, place)}`
}

function savePlace(
  tx: Tx,
  { id }: TaskRecord,
  {
    on,
    onto_branch,
    base_branch,
    base_commit,
    untested,
  }: BranchPlace & { readonly base_commit: string; readonly untested: string | null },
): void {
  const task = tx.tasks.get(id)
  const known = tx.workspaces.byTask(id)
  if (!task || !known) return
  const stack = { ...onBase(base_branch), on, untested }
  const record = { ...known, base_branch: onto_branch, base_commit, stack }
  // A cleaned workspace has only its branch; it is not set to be cleaned again.
  if (known.status === 'cleaned') tx.workspaces.put(record)
  else saveWorkspace(tx, task, record)
  const left = withoutTrouble(task)
  if (left !== task) tx.saveTask(left)
}

/** A review holds for what it judged, laid elsewhere without a conflict, as it does for a branch whose base moved on. */
function carryReview(tx: Tx, { id, project_id }: TaskRecord, { from, to, tree_before, tree_after }: StackMove): void {
  const review = tx.reviews.latest(id)
  const isOfIt = review !== null && (review.tree === null ? review.head === from : review.tree === tree_before)
  if (!isOfIt) return
  const carried = { ...review, head: to, tree: tree_after }
  tx.reviews.put(carried)
  tx.emit('review.updated', { project_id, task_id: id, review: carried })
  const task = tx.tasks.get(id)
  if (task) tx.saveTask({ ...task, review_summary: toReviewSummary(carried) })
}

/** Says why a branch lies on another one now. */
function reasonOf(
  { transitions }: StackDeps,
  q: Queries,
  { task, workspace, lower }: StackedBranch,
  { on }: BranchPlace,
): string {
  const before = workspace.stack?.on ?? null
  if (before === null || before === on) return ''
  const was = q.tasks.get(before)
  if (!was) return ': the task below it was deleted'
  const ref = refOf(q, was)
  if (!below(task, q.tasks.get).some(({ id }) => id === before))
    return lower ? `: it is stacked on ${lower.ref} now` : `: it is no longer stacked on ${ref}`
  const isCancelled = stackPhase(transitions.workflowOf(q, was), was.status) === 'cancelled'
  return isCancelled ? `: ${ref} was cancelled` : `: ${ref} is finished`
}

/** Measures the diff; a size that can't be measured stays as it was, because the branch has moved all the same. */
async function measure({ context }: StackDeps, { id }: TaskRecord, ref: BranchRef) {
  const signal = AbortSignal.timeout(60_000)
  try {
    return await context.places.of(id).diffs.diffStat(ref, { signal })
  } catch (error) {
    if (!(error instanceof WorkspaceError) && !signal.aborted) throw error
    context.log.warn({ err: error, task_id: id }, 'the size of a branch that was brought along could not be measured')
    return null
  }
}
