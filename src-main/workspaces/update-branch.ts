import { WorkspaceError } from '../engine/workspace-port.ts'
import type { UpdateRequest, UpdateResult } from '../engine/merge-port.ts'
import type { Cancellable } from '../engine/ports.ts'
import { commitEverything, commitTree } from './git/commit.ts'
import { readHunks } from './git/conflict-hunks.ts'
import { countLooseFiles } from './git/count-files.ts'
import { branchRef, currentBranch, resolveBase, resolveCommit } from './git/branch.ts'
import { treeOf, type ConflictedTree } from './git/merge.ts'
import { withSnapshot } from './git/snapshot.ts'
import { readStatus } from './git/status.ts'
import { changedPaths } from './git/tree-paths.ts'
import { startMerge, unfinishedCommand } from './git/unfinished.ts'
import { moveBranch } from './move-branch.ts'
import { finishPendingMove } from './pending-move.ts'
import { planUpdate, type UpdatePlan, type UpdateSides } from './plan-update.ts'
import { keepCommit } from './rescue.ts'
import { checkoutsOf } from './target-checkout.ts'

interface UpdateOptions extends Cancellable {
  readonly now: () => number
}

const attempts = 5

/**
 * Brings what the base has by now into a branch, and its worktree follows. What is uncommitted is committed first,
 * once it is clear that nothing conflicts; a conflict changes nothing, unless it shall be left for an editor.
 * A merge that was left and has been resolved since is concluded.
 */
export async function updateBranch(request: UpdateRequest, options: UpdateOptions): Promise<UpdateResult> {
  const { path, on_conflict } = request
  const { signal } = options
  await finishPendingMove(request.repo_path, { signal })
  const concluded = await concludeLeft(request, { signal })
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const sides = await readSides(request, { signal })
    const trial = await uncommittedTip(path, sides.head, { signal })
    const plan = await planUpdate(request, { ...sides, head: trial ?? sides.head }, { signal })
    if (plan.kind === 'up_to_date') {
      if (!concluded) return { kind: 'up_to_date', ...sides }
      return { kind: 'updated', strategy: 'merge', ...sides, rescue_ref: null }
    }
    if (plan.kind === 'conflict' && on_conflict === 'report') {
      return { kind: 'conflict', left: false, ...sides, ...(await describe(request, plan, { signal })) }
    }
    signal.throwIfAborted()
    if (trial !== null) {
      // The plan was for what the commit will be; from here on it is there.
      await commitEverything(path, request.keep_message, { signal })
      continue
    }
    const done =
      plan.kind === 'conflict' ? await leave(request, sides, { signal }) : await move(request, sides, plan, options)
    if (done !== null) return done
  }
  throw new WorkspaceError('git_failed', `${request.branch} could not be updated; something keeps changing it.`)
}

/** Concludes the merge that is under way in the worktree, if there is one; whether there was. */
async function concludeLeft({ path, branch, message }: UpdateRequest, { signal }: Cancellable): Promise<boolean> {
  const current = await currentBranch(path, { signal })
  const command = await unfinishedCommand(path)
  if (command !== null && command !== 'merge') {
    throw new WorkspaceError(
      'unfinished_merge',
      `A ${command} is unfinished in the worktree ${path}. Finish it there (git ${command} --continue) or give it up (git ${command} --abort), then try again.`,
    )
  }
  if (current !== branch) {
    const where = current === null ? 'on no branch' : `on ${current}`
    throw new WorkspaceError(
      'git_failed',
      `The worktree ${path} is ${where} instead of ${branch}. Run "git switch ${branch}" there, then try again.`,
    )
  }
  if (command === null) return false
  await commitEverything(path, message, { signal })
  return true
}

async function readSides({ path, branch, base_branch }: UpdateRequest, { signal }: Cancellable): Promise<UpdateSides> {
  const head = await resolveCommit(path, branchRef(branch), { signal })
  const base = await resolveBase(path, base_branch, { signal })
  if (head !== null && base !== null) return { head, base }
  throw new WorkspaceError(
    'git_failed',
    `There is no branch "${head === null ? branch : base_branch}" any more. Create it, then try again.`,
  )
}

/** The commit that all of the worktree would be; null when all is committed. */
async function uncommittedTip(path: string, head: string, { signal }: Cancellable): Promise<string | null> {
  const { changed, untracked } = await readStatus(path, { signal })
  if (changed.length + untracked.length === 0) return null
  return await withSnapshot(path, { signal, objects: 'kept' }, async ({ tree }) =>
    tree === (await treeOf(path, head, { signal }))
      ? null
      : await commitTree(path, { tree, parents: [head], message: 'Trial of an update' }, { signal }),
  )
}

/** null when the branch has moved meanwhile. */
async function move(
  request: UpdateRequest,
  { head, base }: UpdateSides,
  { commit, strategy, rewrites }: Extract<UpdatePlan, { kind: 'move' }>,
  { signal, now }: UpdateOptions,
): Promise<UpdateResult | null> {
  const { repo_path: repo, path, branch, base_branch, task_id } = request
  const [changes, checkouts] = await Promise.all([
    changedPaths(path, head, commit, { signal }),
    checkoutsOf(repo, branch, { signal }),
  ])
  const rescue_ref = rewrites ? await keepTip(path, head, { branch, task_id }, { signal, now }) : null
  const reason = `copse: update from ${base_branch}`
  const moved = await moveBranch({ repo, branch, from: head, to: commit, reason, changes, checkouts })
  if (moved.kind === 'not_moved') return null
  if (moved.kind === 'dirty') return { kind: 'in_the_way', files: moved.files }
  return { kind: 'updated', strategy, head: commit, base, rescue_ref }
}

async function keepTip(
  path: string,
  head: string,
  { branch, task_id }: Pick<UpdateRequest, 'branch' | 'task_id'>,
  { signal, now }: UpdateOptions,
): Promise<string> {
  const files = await countLooseFiles(path, head, { signal, except: branchRef(branch) })
  return await keepCommit(path, head, task_id, { signal, now, reason: 'rewritten', note: { kind: 'commits', files } })
}

/** Begins the merge in the worktree, whatever the strategy: it is the one thing that an editor can finish. */
async function leave(
  request: UpdateRequest,
  { head, base }: UpdateSides,
  { signal }: Cancellable,
): Promise<UpdateResult | null> {
  const { path, message } = request
  const plan = await planUpdate({ ...request, strategy: 'merge' }, { head, base }, { signal })
  const found = plan.kind === 'conflict' ? await describe(request, plan, { signal }) : { files: [], hunks: [] }
  await startMerge(path, base, message, { signal })
  const { unmerged } = await readStatus(path, { signal, untracked: 'no' })
  if (unmerged.length > 0) return { kind: 'conflict', left: true, head, base, ...found }
  await commitEverything(path, message, { signal })
  const now = await resolveCommit(path, 'HEAD', { signal })
  return { kind: 'updated', strategy: 'merge', head: now ?? head, base, rescue_ref: null }
}

async function describe(
  { path, branch, base_branch }: UpdateRequest,
  { tree, names }: Extract<UpdatePlan, { kind: 'conflict' }>,
  { signal }: Cancellable,
): Promise<Pick<ConflictedTree, 'files'> & { hunks: Awaited<ReturnType<typeof readHunks>> }> {
  const sides = names === 'base_first' ? { ours: base_branch, theirs: branch } : { ours: branch, theirs: base_branch }
  return { files: tree.files, hunks: await readHunks(path, tree, sides, { signal }) }
}
