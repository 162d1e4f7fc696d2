import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { ErrorAnnotation } from '../../src-shared/contract/tasks.ts'
import { withoutStackTrouble } from '../core/stack-notes.ts'
import { cascadeWaitsForStack, lowerTask, noteOnEntry, rootBranch, waitsForStack, landsOn } from '../core/stack-of.ts'
import type { LowerTask } from '../core/stack-of.ts'
import type { Tx } from '../core/event-feed.ts'
import { refOf, toReviewSummary } from '../core/views.ts'
import { isRefusal } from '../domain/refusal.ts'
import { count } from '../domain/task/conflict-text.ts'
import { stackConflictPrompt } from '../domain/task/stack-text.ts'
import { below, planRestack, stackPhase, type RestackFacts } from '../domain/task/stack.ts'
import { cascadeOnPass } from '../domain/workflow/graph.ts'
import type { RestackMove, RestackResult } from '../ports/branch-updater.ts'
import type { StackMove, StackPlace } from '../ports/stack-place.ts'
import type { Queries, TaskRecord, WorkspaceRecord } from '../ports/store.ts'
import { WorkspaceError } from '../ports/workspaces.ts'
import type { StepServices } from '../steps/step-services.ts'
import { commitMessage, keepMessage } from '../workspaces/commit-message.ts'
import { keepStackedWork } from '../workspaces/keep-lower.ts'
import { saveWorkspace } from '../workspaces/save-workspace.ts'
import { toConflictHunks } from '../workspaces/to-conflict-hunks.ts'
import { withWorktreeLock } from '../workspaces/with-worktree-lock.ts'
import { workspaceOwner } from '../core/workspace-of.ts'
import type { ActionDeps } from './action-services.ts'
import type { Actions } from './actions.ts'
import { checkBranchChange } from './update-branch.ts'

/** Keeps the branches of stacked tasks on those of the tasks below them. */
export interface Stacks {
  /**
   * Brings along what can be brought along now: a task that has changed and those above it, or all. What can't is tried
   * again at the next look.
   */
  look(task_id?: TaskId): void
  /** The same for one task; returns once it is done. Never rejects. */
  bringAlong(task_id: TaskId, signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

type Deps = StepServices & Pick<ActionDeps, 'worker'> & { readonly actions: Pick<Actions, 'feedback'> }

export function createStacks(deps: Deps): Stacks {
  const { context } = deps
  const { read } = context.store
  const closing = new AbortController()
  const restacks = new Map<TaskId, Promise<void>>()
  /** Tasks that changed while their branch was brought along. */
  const again = new Set<TaskId>()
  let looking: NodeJS.Immediate | null = null
  /** Tasks that have changed since the last look; null: look at all. */
  let changed: Set<TaskId> | null = new Set()

  const begin = (id: TaskId): Promise<void> => {
    const known = restacks.get(id)
    if (known) {
      again.add(id)
      return known
    }
    const bringing = bring(deps, id, closing.signal)
      .then((hasMoved) => {
        resumeReview(deps, id)
        // Those above it follow.
        if (hasMoved) look(id)
      })
      .catch((error: unknown) => {
        if (!closing.signal.aborted)
          context.log.error({ err: error, task_id: id }, 'the branch of a stacked task could not be brought along')
      })
      .finally(() => {
        restacks.delete(id)
        if (again.delete(id)) look(id)
      })
    restacks.set(id, bringing)
    return bringing
  }
  const takeChanged = (): Iterable<TaskId> => {
    const found = changed
    changed = new Set()
    if (found === null) return read.tasks.stacked()
    // A set grows while it is walked: those above are walked too.
    for (const id of found) for (const upper of read.tasks.stackedOn(id)) found.add(upper)
    return [...found].filter((id) => (read.tasks.get(id)?.stacked_on ?? null) !== null || isStill(read, id))
  }
  const look = (task_id?: TaskId): void => {
    if (task_id === undefined) changed = null
    else changed?.add(task_id)
    looking ??= setImmediate(() => {
      looking = null
      if (closing.signal.aborted) return
      for (const id of takeChanged()) void begin(id)
    })
  }
  return {
    look,
    bringAlong: async (task_id, signal) => {
      // One that is under way may have read what was so before.
      await restacks.get(task_id)
      if (!signal.aborted && !closing.signal.aborted) await begin(task_id)
    },
    close: async () => {
      closing.abort(new Error('The service is stopping.'))
      if (looking) clearImmediate(looking)
      await Promise.all(restacks.values())
    },
  }
}

/** Returns whether a task that is no longer stacked still lies on the branch of another. */
const isStill = (q: Queries, id: TaskId): boolean => (q.workspaces.byTask(id)?.stack ?? null) !== null

interface Found {
  readonly task: TaskRecord
  readonly workspace: WorkspaceRecord
  readonly lower: LowerTask | null
}

/** Returns a task whose branch is to be brought along, if that can begin now. */
function find(deps: Deps, id: TaskId): Found | null {
  const { read } = deps.context.store
  const task = read.tasks.get(id)
  const workspace = task && read.workspaces.byTask(id)
  if (!task || !workspace) return null
  const lower = lowerTask(read, deps.transitions.workflowOf(read, task), task)
  const change = checkBranchChange(deps, id)
  const cause = isRefusal(change) ? change.code : null
  const isGone = cause === 'not_claimable' || workspaceOwner(read, task).id !== id
  const facts: RestackFacts = {
    upper: {
      has_branch: !isGone,
      is_over: task.archived || cause === 'task_terminal',
      is_busy: cause !== null || read.executions.openOfTask(id).length > 0,
      lies_on: workspace.stack?.on ?? null,
    },
    lower: lower && { id: lower.task.id, phase: lower.phase, has_branch: lower.workspace !== null },
  }
  return planRestack(facts).kind === 'bring' ? { task, workspace, lower } : null
}

/** Returns whether the branch has moved. */
async function bring(deps: Deps, id: TaskId, signal: AbortSignal): Promise<boolean> {
  const { context, worktrees } = deps
  const found = find(deps, id)
  if (!found || (await isInPlace(deps, found, signal))) return false
  await keepStackedWork(deps, found.task, signal)
  const outcome = await worktrees.exclusively(found.task, async (): Promise<Brought | null> => {
    const now = find(deps, id)
    if (!now) return null
    const ref = await worktrees.ref(now.workspace)
    const done = await withWorktreeLock(context, ref.path, () => bringHeld(deps, now, signal))
    return done !== null && isRefusal(done) ? null : done
  })
  if (!outcome) return false
  if (outcome.result.kind === 'conflict') await reportConflict(deps, outcome, outcome.result, signal)
  return outcome.result.kind === 'moved' || outcome.result.kind === 'up_to_date'
}

/** Returns whether the branch lies on the newest commit of the one below already. */
async function isInPlace({ context }: Deps, { workspace, lower }: Found, signal: AbortSignal): Promise<boolean> {
  const { stack, base_commit, repo_path } = workspace
  if (lower?.workspace == null || stack === null || stack.on !== lower.task.id) return false
  if (stack.moving !== null || stack.conflict !== null || stack.trouble !== null) return false
  return (await context.workspaces.tip(repo_path, lower.workspace.branch, { signal })) === base_commit
}

interface StackTarget {
  readonly on: TaskId | null
  /** The branch that it is to lie on. */
  readonly onto_branch: string
  /** The branch that it lands on at last. */
  readonly base_branch: string
}

interface Brought extends Found {
  readonly place: StackTarget
  readonly result: RestackResult
}

function stackTarget(q: Queries, { task, workspace, lower }: Found): StackTarget {
  const base_branch = rootBranch(q, task) ?? landsOn(workspace)
  return { on: lower?.task.id ?? null, onto_branch: lower?.workspace?.branch ?? base_branch, base_branch }
}

const onBase = (base_branch: string): StackPlace => ({
  on: null,
  base_branch,
  conflict: null,
  trouble: null,
  untested: null,
  moving: null,
})

/** Moves the branch while nothing else can use the worktree. */
async function bringHeld(deps: Deps, found: Found, signal: AbortSignal): Promise<Brought | null> {
  const { context, worktrees } = deps
  const { task } = found
  const workspace = await finishMove(deps, found, signal)
  const place = stackTarget(context.store.read, found)
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
    const result = await context.workspaces.restack(request, { signal, beforeMove })
    const done: Brought = { ...found, workspace, place, result }
    // The coder who resolves the conflict needs a clean worktree.
    if (result.kind === 'conflict' && request.path !== null)
      await context.workspaces.commitAll(request.path, request.keep_message, { signal })
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
async function finishMove(deps: Deps, found: Found, signal: AbortSignal): Promise<WorkspaceRecord> {
  const { context } = deps
  const { task, workspace } = found
  const moving = workspace.stack?.moving ?? null
  if (moving === null) return workspace
  await context.workspaces.finishMerges(workspace.repo_path, { signal })
  const tip = await context.workspaces.tip(workspace.repo_path, workspace.branch, { signal })
  if (tip === moving.to) await noteMoved(deps, found, moving)
  else patchStack(context, task.id, { moving: null })
  return context.store.read.workspaces.byTask(task.id) ?? workspace
}

function patchStack({ feed }: Deps['context'], task_id: TaskId, patch: Partial<StackPlace>): void {
  feed.commit((tx) => {
    const record = tx.workspaces.byTask(task_id)
    if (record) tx.workspaces.put({ ...record, stack: { ...(record.stack ?? onBase(record.base_branch)), ...patch } })
  })
}

/** Saves where a branch lies now. */
async function noteMoved(deps: Deps, found: Found, move: StackMove): Promise<void> {
  const place = { ...stackTarget(deps.context.store.read, found), on: move.on, onto_branch: move.onto_branch }
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

async function noteInPlace(deps: Deps, found: Found, place: StackTarget, base_commit: string): Promise<void> {
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

function placeText(deps: Deps, q: Queries, found: Found, place: StackTarget, onto: string): string {
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
  }: StackTarget & { readonly base_commit: string; readonly untested: string | null },
): void {
  const task = tx.tasks.get(id)
  const known = tx.workspaces.byTask(id)
  if (!task || !known) return
  const stack = { ...onBase(base_branch), on, untested }
  const record = { ...known, base_branch: onto_branch, base_commit, stack }
  // A cleaned workspace has only its branch; it is not set to be cleaned again.
  if (known.status === 'cleaned') tx.workspaces.put(record)
  else saveWorkspace(tx, task, record)
  const left = withoutStackTrouble(task, known.stack)
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
function reasonOf({ transitions }: Deps, q: Queries, { task, workspace, lower }: Found, { on }: StackTarget): string {
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

/** Says on the task why its branch can't be moved; it is tried again. */
function noteTrouble({ context }: Deps, { task: { id }, workspace }: Found, why: string): void {
  const trouble = `${workspace.branch} could not be brought along with the tasks below it. ${why}`
  context.feed.commit((tx) => {
    const task = tx.tasks.get(id)
    const known = tx.workspaces.byTask(id)
    if (!task || !known || known.stack?.trouble === trouble) return
    const free = withoutStackTrouble(task, known.stack)
    tx.workspaces.put({ ...known, stack: { ...(known.stack ?? onBase(known.base_branch)), moving: null, trouble } })
    if (free.error_annotation !== null) return
    tx.saveTask({ ...free, error_annotation: { type: 'workspace_error', message: trouble, recovery_actions: [] } })
  })
}

/** Refusals that end without a change to the task, or when a person resumes what is paused. */
const passing: readonly string[] = [
  'agent_paused',
  'project_paused',
  'entry_barrier',
  'already_claimed',
  'workspace_locked',
  'version_conflict',
]

/** Gives a conflict to the coder, once for each commit; after that, to a person. */
async function reportConflict(
  deps: Deps,
  { task, workspace, lower, place }: Brought,
  { onto, lies_on, files, hunks }: Extract<RestackResult, { kind: 'conflict' }>,
  signal: AbortSignal,
): Promise<void> {
  const { context } = deps
  const known = context.store.read.workspaces.byTask(task.id)?.stack?.conflict ?? null
  const told = known?.onto === onto ? known.told : 'nobody'
  const save = (to: 'nobody' | 'coder' | 'person') => {
    patchStack(context, task.id, { conflict: { onto, files, told: to }, moving: null })
  }
  if (told === 'nobody') {
    // Saved before it is sent: a second message would restart the coder.
    save('coder')
    const other = lower ?? lastBelow(context.store.read, task, workspace)
    const message = stackConflictPrompt({
      branch: workspace.branch,
      onto_branch: place.onto_branch,
      onto,
      lies_on,
      lower: other && { ref: other.ref, title: other.task.title, is_below: lower !== null },
      files,
      hunks: toConflictHunks(context, task, hunks, 'in_prompt'),
    })
    const by = { type: 'operator' } as const
    const request = { task_id: task.id, by, triggered_by: 'system', comment_ids: [], message }
    const sent = await deps.actions.feedback(request, signal)
    if (!isRefusal(sent)) return
    if (passing.includes(sent.code)) {
      save('nobody')
      return
    }
  }
  if (told === 'person') return
  const what = `${workspace.branch} can't be laid on ${place.onto_branch} (${onto.slice(0, 12)}): ${count(files)}.`
  const message = `${what} Run "git rebase --onto ${onto.slice(0, 12)} ${lies_on.slice(0, 12)}" in its worktree and resolve it there, or take the task off the stack.`
  context.feed.commit((tx) => {
    const now = tx.tasks.get(task.id)
    if (!now || (now.error_annotation !== null && now.error_annotation.type !== 'merge_conflict')) return
    const annotation: ErrorAnnotation = {
      type: 'merge_conflict',
      message,
      files: [...files],
      hunks: toConflictHunks(context, now, hunks),
      recovery_actions: [],
    }
    tx.saveTask({ ...now, error_annotation: annotation })
    const record = tx.workspaces.byTask(task.id)
    if (!record) return
    const conflict = { onto, files, told: 'person' as const }
    const stack = record.stack ?? onBase(record.base_branch)
    tx.workspaces.put({ ...record, stack: { ...stack, conflict, trouble: message, moving: null } })
  })
}

/** Returns the task on whose branch another lay until it landed or was given up. */
function lastBelow(q: Queries, { stacked_on }: TaskRecord, { stack }: WorkspaceRecord) {
  const id = stack?.on ?? stacked_on
  const task = id === null ? null : q.tasks.get(id)
  return task && { task, ref: refOf(q, task) }
}

/** Goes on where a passed review held, once the task below has landed. */
function resumeReview(deps: Deps, id: TaskId): void {
  const { context, transitions, worker } = deps
  const { read } = context.store
  const canGo = (q: Queries): { readonly task: TaskRecord; readonly to: string; readonly by: string } | null => {
    const task = q.tasks.get(id)
    if (!task || task.archived || task.entry_barrier || task.error_annotation !== null) return null
    if (q.effects.first(id) !== null || q.reviews.latest(id)?.status !== 'passed') return null
    const entry = q.transitions.last(id)
    if (!entry?.hooks.some(({ reason }) => reason === waitsForStack)) return null
    const workflow = transitions.workflowOf(q, task)
    const gate = workflow.states.get(task.status)
    const to = gate && cascadeOnPass(workflow, gate)
    if (to === undefined || cascadeWaitsForStack(q, workflow, task)) return null
    return { task, to, by: entry.triggered_by }
  }
  if (!canGo(read)) return
  const moved = context.feed.commit((tx) => {
    const can = canGo(tx)
    if (!can) return null
    const cascade = { cause: 'cascade', version: null, reason: null, depth: 1 } as const
    return transitions.apply(tx, can.task, { ...cascade, to: can.to, triggered_by: can.by })
  })
  if (moved === null) return
  if (isRefusal(moved)) context.log.warn({ task_id: id, code: moved.code }, 'a cascade that waited was refused')
  else worker.wake(id)
}

/** Measures the diff; a size that can't be measured stays as it was, because the branch has moved all the same. */
async function measure({ context }: Deps, { id }: TaskRecord, ref: Parameters<typeof context.workspaces.diffStat>[0]) {
  const signal = AbortSignal.timeout(60_000)
  try {
    return await context.workspaces.diffStat(ref, { signal })
  } catch (error) {
    if (!(error instanceof WorkspaceError) && !signal.aborted) throw error
    context.log.warn({ err: error, task_id: id }, 'the size of a branch that was brought along could not be measured')
    return null
  }
}
