import type { ReviewNote } from '../../src-shared/contract/reviews.ts'
import type { ErrorAnnotation, WorkPlace } from '../../src-shared/contract/tasks.ts'
import { isPerson } from '../domain/transition/audience.ts'
import type { Ground } from '../core/ground.ts'
import { redactorOf } from '../core/redactor-of.ts'
import { othersInWorkspace, workspaceOf } from '../core/workspace-of.ts'
import type { ExecutionRecord } from '../ports/execution-queries.ts'
import type { RunFindings, TaskRecord } from '../ports/task-queries.ts'
import type { ReviewRecord } from '../ports/review-queries.ts'
import type { DiffReader } from '../ports/diff-reader.ts'
import { WorkspaceError } from '../ports/workspace-error.ts'
import type { BranchRef } from '../ports/branch-ref.ts'
import { findSecrets, type AddedText } from './find-secrets.ts'
import { noteRunFindings, replaceNotes } from './repository-changes.ts'
import type { Worktrees } from './worktrees.ts'

const noFindings: RunFindings = { notes: [], places: [] }
const limitMs = 60_000

/**
 * Looks for what an ended run left besides the task's branch. Takes commits that descend from the branch; on an error,
 * writes a warning to the log and finds nothing.
 */
export async function findRunFindings(
  { context, worktrees }: { readonly context: Ground; readonly worktrees: Worktrees },
  { task_id, agent_id, repository_state: before }: ExecutionRecord,
): Promise<RunFindings> {
  const { store, places, log } = context
  const task = store.read.tasks.get(task_id)
  const workspace = task && workspaceOf(store.read, task)
  if (!workspace || agent_id === null || before === null) return noFindings
  const signal = AbortSignal.timeout(limitMs)
  try {
    const { elsewhere } = places.of(task.id)
    const ref = await worktrees.ref(workspace)
    if (ref.path === null) return noFindings
    const worktree = { ...ref, path: ref.path }
    // Another run may be on its own way there.
    const isShared = othersInWorkspace(store.read, task).some((one) => one.status === 'running')
    const { taken, place } = isShared ? { taken: null, place: null } : await elsewhere.settleHead(worktree, { signal })
    // Without its link, git can't read the worktree.
    if (place?.kind === 'link') return noFindings
    const traces = await elsewhere.runTraces(worktree, before, { signal })
    return { notes: [...(taken ? [taken] : []), ...traces.notes], places: traces.places }
  } catch (error) {
    if (!(error instanceof WorkspaceError) && !signal.aborted) throw error
    log.warn({ err: error, task_id }, 'what a run left besides its branch could not be looked at')
    return noFindings
  }
}

export type ElsewhereSettled =
  | { readonly kind: 'clear' }
  /** A person must decide. */
  | { readonly kind: 'held'; readonly annotation: ErrorAnnotation }
  /** Work that a person took conflicts: what the coder is told. */
  | { readonly kind: 'conflict'; readonly feedback: string }

/**
 * Looks for work besides the task's branch before a review or a merge. Takes it where the branch can simply be moved
 * there.
 */
export async function settleElsewhere(
  context: Ground,
  task: TaskRecord,
  ref: BranchRef,
  signal: AbortSignal,
): Promise<ElsewhereSettled> {
  const feedback = takeConflict(context, task)
  if (feedback !== null) return { kind: 'conflict', feedback }
  if (ref.path === null) return { kind: 'clear' }
  const { elsewhere } = context.places.of(task.id)
  const worktree = { ...ref, path: ref.path }
  const { taken, place } = await elsewhere.settleHead(worktree, { signal })
  if (place?.kind === 'link') return { kind: 'held', annotation: workElsewhere([place], ref) }
  const places = await findPlaces(context, task, { worktree, isElsewhere: place !== null }, signal)
  const rewritten = await elsewhere.rewrittenBase(ref, { signal })
  const isKnown = rewritten !== null && isSeen(context.store.read.reviews.latest(task.id), rewritten)
  saveNotes(context, task, { taken, ...(!isKnown && { rewritten }) })
  const held = place ? [place, ...places.filter(({ ref: other }) => other !== place.ref)] : places
  return held.length === 0 ? { kind: 'clear' } : { kind: 'held', annotation: workElsewhere(held, ref) }
}

/** Returns the conflict that the coder has to be told of, and forgets it. */
function takeConflict({ feed, store }: Ground, { id }: TaskRecord): string | null {
  const conflict = store.read.tasks.get(id)?.run_findings.conflict ?? null
  if (conflict === null) return null
  feed.commit((tx) => {
    const task = tx.tasks.get(id)
    if (task) tx.saveTask({ ...task, run_findings: { ...task.run_findings, conflict: null } })
  })
  return conflict
}

/** Returns the places that hold the task. Branches that a run left hold it only if the task has no change of its own. */
async function findPlaces(
  { store, places }: Ground,
  task: TaskRecord,
  {
    worktree,
    isElsewhere,
  }: { readonly worktree: BranchRef & { readonly path: string }; readonly isElsewhere: boolean },
  signal: AbortSignal,
): Promise<readonly WorkPlace[]> {
  const { notes, places: known } = (store.read.tasks.get(task.id) ?? task).run_findings
  const branches = notes.flatMap((note): WorkPlace[] =>
    note.kind === 'work_left' ? [{ kind: 'branch', ref: note.ref, commits: note.commits, files: 0 }] : [],
  )
  const found = await places.of(task.id).elsewhere.leftWork(worktree, [...known, ...branches], { signal })
  if (!found.some(({ kind }) => kind === 'branch')) return found
  // The files of a worktree that is elsewhere are not the branch's.
  const own = isElsewhere ? { ...worktree, path: null } : worktree
  const isEmpty = (await places.of(task.id).diffs.diffStat(own, { signal })).files === 0
  return found.filter(({ kind }) => kind !== 'branch' || isEmpty)
}

/** Returns whether a person has passed a review that named these commits. */
function isSeen(review: ReviewRecord | null, { commits }: Extract<ReviewNote, { kind: 'base_rewritten' }>): boolean {
  const isNamed = review?.notes.some((one) => one.kind === 'base_rewritten' && one.commits.join() === commits.join())
  return isNamed === true && review?.verdicts.some(({ by, verdict }) => verdict === 'pass' && isPerson(by)) === true
}

function saveNotes(
  { feed }: Ground,
  { id }: TaskRecord,
  { taken, rewritten }: { readonly taken: ReviewNote | null; readonly rewritten?: ReviewNote | null },
): void {
  feed.commit((tx) => {
    const current = tx.tasks.get(id)
    if (!current) return
    const notes = rewritten ? [rewritten] : []
    // A person who passed the review has seen them there.
    const replaced = rewritten === undefined ? current : replaceNotes(tx, current, 'base_rewritten', notes)
    const noted = taken ? noteRunFindings(tx, replaced, { notes: [taken], places: [] }) : replaced
    if (noted !== current) tx.saveTask(noted)
  })
}

/**
 * Notes at the open review what its diff can't show or a reader may miss: hidden text, names that are the same to some
 * file systems, secrets, and that most files are deleted.
 */
export async function noteDiff(context: Ground, task: TaskRecord, ref: BranchRef, signal: AbortSignal): Promise<void> {
  const { feed, store } = context
  const { diffs } = context.places.of(task.id)
  const [found, added] = await Promise.all([diffs.findings(ref, { signal }), readAdded(diffs, ref, signal)])
  const { hidden_text: hidden, same_names: same, mass_deletion: deletion } = found
  const secret = await findSecrets(added, redactorOf(context, store.read, task.project_id))
  const notes: readonly (readonly [ReviewNote['kind'], ReviewNote | null])[] = [
    ['hidden_text', hidden.length === 0 ? null : { kind: 'hidden_text', paths: [...hidden] }],
    ['same_names', same.length === 0 ? null : { kind: 'same_names', paths: [...same] }],
    ['secret', secret],
    ['mass_deletion', deletion === null ? null : { kind: 'mass_deletion', ...deletion }],
  ]
  feed.commit((tx) => {
    const current = tx.tasks.get(task.id)
    if (!current) return
    let noted = current
    for (const [kind, note] of notes) noted = replaceNotes(tx, noted, kind, note === null ? [] : [note])
    if (noted !== current) tx.saveTask(noted)
  })
}

/** Files too long for the diff that are read separately. */
const maxLongFiles = 20

async function readAdded(diffs: DiffReader, ref: BranchRef, signal: AbortSignal): Promise<AddedText> {
  const { files, patch } = await diffs.diff(ref, 'branch', null, { signal })
  const long = files.filter(({ truncated, status }) => truncated && status !== 'deleted').slice(0, maxLongFiles)
  async function* patches(): AsyncIterable<string> {
    yield patch
    // Each can have 64 MB.
    for (const { path } of long) yield (await diffs.diff(ref, 'branch', path, { signal })).patch
  }
  return { files, patches: patches(), messages: await diffs.messages(ref, { signal }) }
}

/** Removes a place from what runs left, after its work was taken or kept. */
export function forgetPlace({ notes, places, ...others }: RunFindings, { ref }: WorkPlace): RunFindings {
  return {
    ...others,
    notes: notes.filter((note) => note.kind !== 'work_left' || note.ref !== ref),
    places: places.filter((place) => place.ref !== ref),
  }
}

function workElsewhere(places: readonly WorkPlace[], { branch }: BranchRef): ErrorAnnotation {
  const [first] = places
  const others = places.length - 1
  const more = others === 0 ? '' : ` and in ${others === 1 ? 'one more place' : `${others} more places`}`
  return {
    type: 'work_elsewhere',
    message: `The agent left work ${first === undefined ? 'elsewhere' : nameOf(first)}${more}, not on ${branch}. Take it into the review, or leave it out. It is kept either way.`,
    places: [...places],
    recovery_actions: ['take_work', 'leave_work'],
  }
}

function nameOf({ kind, ref }: WorkPlace): string {
  switch (kind) {
    case 'branch':
      return `on the branch ${(ref ?? '').replace(/^refs\/(?:heads\/|svc\/left\/[^/]+\/heads\/)/, '')}`
    case 'detached':
      return `on no branch, at ${(ref ?? '').slice(0, 12)}`
    case 'stash':
      return 'on the stash list'
    case 'link':
      return 'in a folder whose .git file is gone or leads elsewhere'
  }
}
