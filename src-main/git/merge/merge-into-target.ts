import { WorkspaceError } from '../../ports/workspace-error.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import type { BranchRef, MergeRequest } from '../../ports/branch-ref.ts'
import type { BeforeMove, MergeResult } from '../../ports/target-mover.ts'
import type { MergeOnto, MovedTarget, PreparedMerge } from '../../ports/target-mover.ts'
import { BugError } from '../../../src-shared/lang/bug-error.ts'
import type { MergeConflicts } from '../../../src-shared/contract/merges.ts'
import { currentBranch, refuseSymbolic } from '../commands/branch.ts'
import { commitTree } from '../commands/commit.ts'
import { signCommits } from '../commands/sign-commit.ts'
import { readHunks } from '../commands/conflict-hunks.ts'
import { peekHead } from '../commands/peek.ts'
import { actualBranch, tipOf } from '../commands/refs.ts'
import { changedPaths, pathText } from '../commands/tree-paths.ts'
import { requireLink } from '../commands/own-worktree.ts'
import { readBaseChanges } from './base-changes.ts'
import { moveBranch, type BranchMove, type MovedBranch } from './move-branch.ts'
import { finishPendingMove } from './pending-move.ts'
import { planMerge, type MergePlan, type Sides } from './plan-merge.ts'
import { checkoutsToUpdate, hasNoOverlap, readCheckouts, overwrittenPaths } from './target-checkout.ts'
import { verifyMerge } from './verify-merge.ts'

const attempts = 5

/**
 * Merges a branch into its target. Everything is computed in the object store; then the target moves by
 * compare-and-swap and its checkouts follow (see `moveBranch`). If another process moved the target in between,
 * everything is computed again. `merged` is returned only after the target was seen to contain the work.
 */
export async function mergeIntoTarget(
  given: MergeRequest,
  { signal, beforeMove }: Cancellable & { readonly beforeMove?: BeforeMove },
): Promise<MergeResult> {
  const request = await ontoActual(given, { signal })
  const { repo_path: repo, base_branch } = request
  await refuseOtherBranch(request, { signal })
  await finishPendingMove(repo, { signal })
  let why = ''
  let done: MergeResult | null = null
  /** Where the target was before the first of several moves. */
  let first: string | null = null
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const [checkouts, commits] = await Promise.all([
      checkoutsToUpdate(repo, base_branch, { signal }),
      findSides(request, { signal }),
    ])
    const [looked, made] = await Promise.all([
      // What takes longest starts first.
      readCheckouts(checkouts, { signal }),
      prepare(request, commits, { signal }),
    ])
    if (made.kind === 'nothing_to_do') return done ?? nothingToDo(request, made.sides)
    if (made.kind === 'conflict') return await describeConflict(request, made, { signal })
    signal.throwIfAborted()
    const { commit, changes, sides, unsigned } = made
    const verification = createVerification([{ request, merged: { ...sides, commit } }])
    const move = { from: sides.target.commit, to: commit, changes, onFollow: verification.begin }
    beforeMove?.({ from: first ?? move.from, to: commit, head: sides.head.commit })
    const reason = `copse: merge ${request.branch}`
    const moved = await moveWithCheckouts(request, { ...move, looked, reason })
    if (moved.kind === 'dirty') return { kind: 'target_dirty', files: moved.files }
    if (moved.kind === 'not_moved') {
      why = moved.why
      continue
    }
    first ??= move.from
    done = { kind: 'merged', commit, ...(unsigned !== undefined && { unsigned }) }
    // Commits made on the branch since then are merged too, unless a commit was named, before its worktree is removed.
    if ((await verification.result()) === 'held' || request.head !== undefined) return done
  }
  throw new WorkspaceError(
    'git_failed',
    `${base_branch} could not be moved; something keeps changing it, or a hook of the repository forbids it. ${why}`.trim(),
  )
}

/** Moves the target and its checkouts. `looked`: these checkouts, as just read. */
export async function moveWithCheckouts(
  { repo_path: repo, base_branch }: Pick<Named, 'repo_path' | 'base_branch'>,
  move: Pick<BranchMove, 'from' | 'to' | 'changes' | 'onFollow' | 'reason'> & {
    readonly looked: Awaited<ReturnType<typeof readCheckouts>>
  },
): Promise<MovedBranch> {
  const { looked, ...rest } = move
  const clear = looked.filter((one) => hasNoOverlap(one, move.changes))
  return await moveBranch({
    ...rest,
    repo,
    branch: base_branch,
    checkouts: looked.map(({ checkout }) => checkout),
    untouched: new Map(clear.map(({ checkout, state }) => [checkout, state])),
  })
}

/** Creates in the object store the commit to which the target moves, and lists what it changes. */
async function prepare(
  request: MergeRequest,
  commits: { readonly target: string; readonly head: string },
  { signal }: Cancellable,
) {
  const plan = await planMerge(request.repo_path, commits, request.strategy, { signal })
  if (plan.kind === 'nothing_to_do' || plan.kind === 'conflict') return plan
  const { sides } = plan
  const [changes, commit] = await Promise.all([
    changedPaths(request.repo_path, sides.target.tree, plan.tree, { signal }),
    commitOf(request, plan, { signal }),
  ])
  return { kind: 'made', ...commit, changes, sides } as const
}

/** The merged commits and how they were merged. */
interface Merged {
  readonly request: MergeRequest
  readonly merged: Sides & { readonly commit: string }
}

/** Starts the check that the target contains the work as soon as it has moved, while the files still follow. */
function createVerification(all: readonly Merged[]) {
  const look = async (): Promise<'held' | 'moved_on'> => {
    const signal = AbortSignal.timeout(60_000)
    const found = await Promise.all(all.map(({ request, merged }) => verifyMerge(request, merged, { signal })))
    return found.includes('moved_on') ? 'moved_on' : 'held'
  }
  let begun: ReturnType<typeof look> | null = null
  return {
    begin: (): void => {
      begun = look()
      // Prevents an unhandled rejection when the move is taken back.
      begun.catch(() => undefined)
    },
    result: async () => await (begun ?? look()),
  }
}

/**
 * Creates in the object store the merge of a branch on top of a commit, which need not be the target's yet. Moves
 * nothing.
 */
export async function prepareMerge(
  request: MergeRequest & { readonly onto: string },
  { signal }: Cancellable,
): Promise<PreparedMerge> {
  await refuseOtherBranch(request, { signal })
  const { repo_path: repo, onto } = request
  const head = request.head ?? (await findSides(request, { signal })).head
  const plan = await planMerge(repo, { target: onto, head }, request.strategy, { signal })
  if (plan.kind === 'conflict') return await describeConflict(request, plan, { signal })
  const prepared = { kind: 'prepared', ...plan.sides } as const
  if (plan.kind !== 'nothing_to_do')
    return { ...prepared, ...(await commitOf(request, plan, { signal })), tree: plan.tree }
  const isEmpty = request.base_commit !== null && prepared.head.commit === request.base_commit
  return { ...prepared, commit: onto, tree: prepared.target.tree, ...(isEmpty && { empty: true }) }
}

/**
 * Moves the target to the last of these merges, each prepared on top of the one before, if it still is at `from`; its
 * checkouts follow (see `moveBranch`).
 */
export async function moveTarget(
  merges: readonly { readonly request: MergeRequest; readonly prepared: MergeOnto }[],
  { signal }: Cancellable,
): Promise<MovedTarget> {
  const [first, last] = [merges[0], merges.at(-1)]
  if (!first || !last) throw new BugError('There is nothing to move the target to.')
  const { repo_path: repo, base_branch } = await ontoActual(last.request, { signal })
  await finishPendingMove(repo, { signal })
  const { target } = first.prepared
  const [from, to] = [target.commit, last.prepared.commit]
  if (from === to) return { kind: 'moved' }
  const checkouts = await checkoutsToUpdate(repo, base_branch, { signal })
  const [looked, changes] = await Promise.all([
    readCheckouts(checkouts, { signal }),
    changedPaths(repo, target.tree, last.prepared.tree, { signal }),
  ])
  const merged = merges.map(({ request, prepared }) => ({ request, merged: prepared }))
  signal.throwIfAborted()
  const verification = createVerification(merged)
  const moved = await moveWithCheckouts(
    { ...last.request, base_branch },
    { from, to, changes, onFollow: verification.begin, looked, reason: `copse: merge ${last.request.branch}` },
  )
  if (moved.kind === 'moved') await verification.result()
  return moved
}

/** Returns whether a merge changes one of these files. */
export async function mergeTouches(
  repo: string,
  { target, tree }: MergeOnto,
  files: readonly string[],
  { signal }: Cancellable,
): Promise<boolean> {
  const changes = await changedPaths(repo, target.tree, tree, { signal })
  return changes.some(({ key }) => files.includes(pathText(key)))
}

/**
 * Returns the paths that would keep the user's checkout from following a merge now. Throws where a merge would throw at
 * once.
 */
export async function checkMergeTarget(
  given: BranchRef & Pick<MergeRequest, 'head'>,
  { signal }: Cancellable,
): Promise<readonly string[]> {
  const ref = await ontoActual(given, { signal })
  const { repo_path: repo } = ref
  await refuseOtherBranch(ref, { signal })
  await finishPendingMove(repo, { signal })
  const checkouts = await checkoutsToUpdate(repo, ref.base_branch, { signal })
  if (checkouts.length === 0) return []
  const plan = await planMerge(repo, await findSides(ref, { signal }), 'merge', { signal })
  if (plan.kind === 'conflict' || plan.kind === 'nothing_to_do') return []
  const changes = await changedPaths(repo, plan.sides.target.tree, plan.tree, { signal })
  return await overwrittenPaths(checkouts, changes, { signal })
}

/** Returns the conflicts of a merge now. `work`: a commit of what would be merged, where that is not the branch's tip. */
export async function readConflicts(
  ref: Pick<MergeRequest, 'repo_path' | 'branch' | 'base_branch' | 'strategy'>,
  work: string | null,
  { signal }: Cancellable,
): Promise<MergeConflicts> {
  const { repo_path: repo, branch, base_branch, strategy } = ref
  const { target, head } = await findSides(ref, { signal })
  const plan = await planMerge(repo, { target, head: work ?? head }, strategy, { signal })
  const commits = { head_commit: head, base_commit: target }
  const found = plan.kind === 'conflict' ? await describeConflict(ref, plan, { signal }) : { files: [], hunks: [] }
  const base_changes = await readBaseChanges(repo, { head: work ?? head, base: target }, found.files, { signal })
  return { branch, base_branch, ...commits, files: [...found.files], hunks: [...found.hunks], base_changes }
}

/** Names the branch that a merge moves, where the base is a symbolic ref. */
async function ontoActual<T extends Named>(ref: T, { signal }: Cancellable): Promise<T> {
  return { ...ref, base_branch: await actualBranch(ref.repo_path, ref.base_branch, { signal }) }
}

type Named = Pick<BranchRef, 'repo_path' | 'branch' | 'base_branch'>

/** Finds the commits to merge: the tips of the two branches, or the head that is named. */
async function findSides(
  ref: Named & Pick<MergeRequest, 'head'>,
  { signal }: Cancellable,
): Promise<{ readonly target: string; readonly head: string }> {
  const { repo_path: repo, base_branch, branch } = ref
  const [target, head] = await Promise.all([
    tipOf(repo, base_branch, { signal }),
    ref.head ?? tipOf(repo, branch, { signal }),
  ])
  if (target !== null && head !== null) return { target, head }
  throw new WorkspaceError(
    'git_failed',
    `No branch “${target === null ? base_branch : branch}” in ${repo}. Create it, then try again.`,
  )
}

/** Refuses if the worktree is on another branch, because commits made there would silently stay behind. */
export async function refuseOtherBranch(
  request: Pick<BranchRef, 'path' | 'branch'>,
  { signal }: Cancellable,
): Promise<void> {
  const { path, branch } = request
  if (path === null || (await requireLink(path)) === null) return
  const peeked = await peekHead(path)
  if (peeked === null) await refuseSymbolic(path, branch, { signal })
  const current = peeked?.branch ?? (await currentBranch(path, { signal }))
  if (current === branch) return
  const where = current === null ? 'on no branch' : `on ${current}`
  throw new WorkspaceError(
    'git_failed',
    `The worktree ${path} is ${where} instead of ${branch}. Bring its work onto ${branch}, then try again.`,
  )
}

function nothingToDo({ base_commit }: MergeRequest, { target, head }: Sides): MergeResult {
  const isEmpty = base_commit !== null && head.commit === base_commit
  return { kind: 'merged', commit: target.commit, ...(isEmpty && { empty: true }) }
}

async function describeConflict(
  { repo_path, branch, base_branch }: Named,
  plan: Extract<MergePlan, { kind: 'conflict' }>,
  { signal }: Cancellable,
): Promise<Extract<MergeResult, { kind: 'conflict' }>> {
  const hunks = await readHunks(repo_path, plan, { ours: base_branch, theirs: branch }, { signal })
  return { kind: 'conflict', files: plan.files, hunks }
}

interface MadeCommit {
  readonly commit: string
  readonly unsigned?: string
}

async function commitOf(
  request: MergeRequest,
  plan: Extract<MergePlan, { kind: 'commit' | 'advance' }> & { readonly sides: Sides },
  { signal }: Cancellable,
): Promise<MadeCommit> {
  const { repo_path: repo, message, sign = 'never', base_branch } = request
  const { kind } = plan
  const made =
    kind === 'advance'
      ? plan.commit
      : await commitTree(repo, { tree: plan.tree, parents: plan.parents, message }, { signal })
  if (sign === 'never') return { commit: made }
  const signed = await signCommits(
    repo,
    { from: kind === 'advance' ? plan.sides.target.commit : null, to: made },
    { signal },
  )
  if (signed.kind === 'signed') return { commit: signed.commit }
  if (sign === 'try') return { commit: made, unsigned: signed.why }
  throw new WorkspaceError(
    'git_failed',
    `The merge into ${base_branch} could not be signed, so nothing has moved: ${signed.why}. ` +
      'Unlock or set up the key, or set sign_merges to "try", then try again.',
  )
}
