import { WorkspaceError } from '../../ports/workspace-error.ts'
import type { UpdateRequest, UpdateResult } from '../../ports/branch-updater.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { branchRef, resolveBase, resolveCommit } from '../commands/branch.ts'
import { commitEverything, commitTree } from '../commands/commit.ts'
import { readHunks } from '../commands/conflict-hunks.ts'
import { countLooseFiles } from '../commands/count-files.ts'
import { treeOf } from '../commands/merge.ts'
import { readTree } from '../commands/snapshot.ts'
import { readStatus } from '../commands/status.ts'
import { changedPaths } from '../commands/tree-paths.ts'
import { startManualMerge, resumeMerge } from './unfinished-merge.ts'
import { moveBranch } from './move-branch.ts'
import { finishPendingMove } from './pending-move.ts'
import { planUpdate, type UpdatePlan, type UpdateSides } from './plan-update.ts'
import { rescueCommit } from '../rescue/rescue.ts'
import { checkoutsToUpdate } from './target-checkout.ts'

interface UpdateOptions extends Cancellable {
  readonly now: () => number
}

const attempts = 5

/**
 * Brings the base's commits into a branch; its worktree, if there is one, follows. Uncommitted changes are committed
 * first, once it is clear that nothing conflicts. A conflict changes nothing, unless it is to be left for an editor. A
 * left merge that has been resolved is concluded; an unresolved one is still a conflict.
 */
export async function updateBranch(request: UpdateRequest, options: UpdateOptions): Promise<UpdateResult> {
  const { repo_path: repo, path } = request
  const { signal } = options
  await finishPendingMove(repo, { signal })
  const left = path === null ? 'none' : await resumeMerge({ ...request, path }, { signal })
  if (typeof left === 'object') return left
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const sides = await readSides(request, { signal })
    const trial = path === null ? null : await uncommittedTip(path, sides.head, { signal })
    const plan = await planUpdate(path ?? repo, request, { ...sides, head: trial ?? sides.head }, { signal })
    if (plan.kind === 'up_to_date') {
      if (left === 'none') return { kind: 'up_to_date', ...sides }
      return { kind: 'updated', strategy: 'merge', ...sides, rescue_ref: null }
    }
    if (plan.kind === 'conflict' && (request.on_conflict === 'report' || path === null)) {
      return { kind: 'conflict', left: false, ...sides, ...(await describe(request, plan, { signal })) }
    }
    signal.throwIfAborted()
    if (path !== null && trial !== null) {
      // The plan assumed this commit; from here on it exists.
      await commitEverything(path, request.keep_message, { signal })
      continue
    }
    const done =
      plan.kind === 'move'
        ? await move(request, sides, plan, options)
        : await startManualMerge({ ...request, path: path ?? repo }, sides, { signal })
    if (done !== null) return done
  }
  throw new WorkspaceError('git_failed', `${request.branch} could not be updated; something keeps changing it.`)
}

async function readSides(request: UpdateRequest, { signal }: Cancellable): Promise<UpdateSides> {
  const { repo_path, path, branch, base_branch } = request
  const cwd = path ?? repo_path
  const head = await resolveCommit(cwd, branchRef(branch), { signal })
  const base = await resolveBase(cwd, base_branch, { signal })
  if (head !== null && base !== null) return { head, base }
  throw new WorkspaceError(
    'branch_missing',
    head === null
      ? `The branch “${branch}” is gone. Create it, then try again.`
      : `No branch “${base_branch}”. If it was renamed, set base_branch to its new name, or create it.`,
  )
}

/** The commit that all of the worktree would be; null when all is committed. */
export async function uncommittedTip(path: string, head: string, { signal }: Cancellable): Promise<string | null> {
  const { changed, unmerged, untracked } = await readStatus(path, { signal })
  if (changed.length + unmerged.length + untracked.length === 0) return null
  const tree = await readTree(path, { signal })
  if (tree === (await treeOf(path, head, { signal }))) return null
  return await commitTree(path, { tree, parents: [head], message: 'Trial of an update' }, { signal })
}

/** null when the branch has moved in between. */
async function move(
  request: UpdateRequest,
  { head, base }: UpdateSides,
  { commit, strategy, rewrites }: Extract<UpdatePlan, { kind: 'move' }>,
  { signal, now }: UpdateOptions,
): Promise<UpdateResult | null> {
  const { repo_path: repo, branch, base_branch } = request
  const [changes, checkouts] = await Promise.all([
    changedPaths(repo, head, commit, { signal }),
    checkoutsToUpdate(repo, branch, { signal }),
  ])
  const rescue_ref = rewrites ? await keepTip(request, head, { signal, now }) : null
  const reason = `copse: update from ${base_branch}`
  const moved = await moveBranch({ repo, branch, from: head, to: commit, reason, changes, checkouts })
  if (moved.kind === 'not_moved') return null
  if (moved.kind === 'dirty') return { kind: 'in_the_way', files: moved.files }
  return { kind: 'updated', strategy, head: commit, base, rescue_ref }
}

/** Keeps the commits that a rewrite replaces; returns the ref. */
export async function keepTip(
  { repo_path: repo, branch, task_id }: Pick<UpdateRequest, 'repo_path' | 'branch' | 'task_id'>,
  head: string,
  { signal, now }: UpdateOptions,
): Promise<string> {
  const files = await countLooseFiles(repo, head, { signal, except: branchRef(branch) })
  return await rescueCommit(repo, head, task_id, { signal, now, reason: 'rewritten', note: { kind: 'commits', files } })
}

async function describe(
  { repo_path: repo, path, branch, base_branch }: UpdateRequest,
  { tree, names }: Extract<UpdatePlan, { kind: 'conflict' }>,
  { signal }: Cancellable,
): Promise<Pick<Extract<UpdateResult, { kind: 'conflict' }>, 'files' | 'hunks'>> {
  const sides = names === 'base_first' ? { ours: base_branch, theirs: branch } : { ours: branch, theirs: base_branch }
  return { files: tree.files, hunks: await readHunks(path ?? repo, tree, sides, { signal }) }
}
