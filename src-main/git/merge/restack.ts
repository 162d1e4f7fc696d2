import type { RestackMove, RestackRequest, RestackResult } from '../../ports/branch-updater.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { WorkspaceError } from '../../ports/workspace-error.ts'
import { branchRef, currentBranch, isAncestor, mergeBase, resolveBase, resolveCommit } from '../commands/branch.ts'
import { commitEverything, commitTree } from '../commands/commit.ts'
import { readHunks } from '../commands/conflict-hunks.ts'
import { mergeWithBase, recommit, treeOf, type ConflictedTree } from '../commands/merge.ts'
import { readGit } from '../commands/run-git.ts'
import { changedPaths } from '../commands/tree-paths.ts'
import { unfinishedCommand } from '../commands/unfinished.ts'
import { moveBranch } from './move-branch.ts'
import { finishPendingMove } from './pending-move.ts'
import { checkoutsToUpdate } from './target-checkout.ts'
import { keepTip, uncommittedTip } from './update-branch.ts'

interface RestackOptions extends Cancellable {
  readonly now: () => number
  readonly beforeMove: (move: RestackMove) => void
}

const attempts = 5

/**
 * Lays the commits that a branch has of its own on the tip of another branch; its worktree follows. Computed in the
 * object store: a conflict changes nothing. Uncommitted changes are committed first, once it is clear that nothing
 * conflicts.
 */
export async function restack(request: RestackRequest, options: RestackOptions): Promise<RestackResult> {
  const { repo_path: repo, path, branch, onto_branch } = request
  const { signal } = options
  await finishPendingMove(repo, { signal })
  if (path !== null) await refuseUnfinished(path, branch, { signal })
  const cwd = path ?? repo
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const head = await resolveCommit(cwd, branchRef(branch), { signal })
    const onto = await resolveBase(cwd, onto_branch, { signal })
    if (head === null || onto === null) throw missing(head === null ? branch : onto_branch)
    const lies_on = await findFork(cwd, request, { head, onto }, { signal })
    if (lies_on === onto) return { kind: 'up_to_date', head, onto }
    const trial = path === null ? null : await uncommittedTip(path, head, { signal })
    const laid = await lay(cwd, request, { onto, lies_on, head: trial ?? head }, { signal })
    if (laid.kind === 'conflict') {
      const hunks = await readHunks(cwd, laid.tree, { ours: onto_branch, theirs: branch }, { signal })
      return { kind: 'conflict', onto, lies_on, files: laid.tree.files, hunks }
    }
    signal.throwIfAborted()
    if (path !== null && trial !== null) {
      // The trial assumed this commit; from here on it exists.
      await commitEverything(path, request.keep_message, { signal })
      continue
    }
    const done = await move(request, { from: head, to: laid.commit, onto }, options)
    if (done !== null) return done
  }
  throw new WorkspaceError('git_failed', `${branch} could not be moved; something keeps changing it.`)
}

/** Whatever is under way in the worktree is a person's or an agent's to finish. */
async function refuseUnfinished(path: string, branch: string, { signal }: Cancellable): Promise<void> {
  const command = await unfinishedCommand(path)
  if (command !== null) {
    throw new WorkspaceError(
      'unfinished_merge',
      `A ${command} is unfinished in the worktree ${path}. Finish it there (git ${command} --continue) or give it up (git ${command} --abort).`,
    )
  }
  const current = await currentBranch(path, { signal })
  if (current === branch) return
  const where = current === null ? 'on no branch' : `on ${current}`
  throw new WorkspaceError(
    'git_failed',
    `The worktree ${path} is ${where} instead of ${branch}. Run "git switch ${branch}" there.`,
  )
}

const missing = (branch: string): WorkspaceError =>
  new WorkspaceError('branch_missing', `The branch “${branch}” is gone. Create it, then try again.`)

/** Returns the commit that the branch's own commits lie on: of the ones it contains, the nearest to its tip. */
async function findFork(
  cwd: string,
  { lay_on, asked }: RestackRequest,
  { head, onto }: { readonly head: string; readonly onto: string },
  { signal }: Cancellable,
): Promise<string> {
  // Its coder may have merged the commit that it was to be laid on.
  if (asked === onto && (await isAncestor(cwd, onto, head, { signal }))) return onto
  const common = await mergeBase(cwd, onto, head, { signal })
  let nearest: { readonly commit: string; readonly distance: number } | null = null
  for (const commit of new Set([...(common === null ? [] : [common]), ...lay_on])) {
    if (!(await isAncestor(cwd, commit, head, { signal }))) continue
    const distance = Number(await readGit(cwd, ['rev-list', '--count', `${commit}..${head}`], { signal }))
    if (nearest === null || distance < nearest.distance) nearest = { commit, distance }
  }
  if (nearest) return nearest.commit
  throw new WorkspaceError('git_failed', 'The branch has no commit in common with the one that it is stacked on.')
}

type Laid =
  | { readonly kind: 'clean'; readonly commit: string }
  | { readonly kind: 'conflict'; readonly tree: ConflictedTree }

/** Replays the commits one by one; where merges are among them, as one commit, so that no resolution is lost. */
async function lay(
  cwd: string,
  { message }: RestackRequest,
  { onto, lies_on, head }: { readonly onto: string; readonly lies_on: string; readonly head: string },
  { signal }: Cancellable,
): Promise<Laid> {
  const range = ['--reverse', '--topo-order', '--parents', `${lies_on}..${head}`]
  const lines = (await readGit(cwd, ['rev-list', ...range], { signal })).split('\n').filter((line) => line !== '')
  const commits = lines.map((line) => line.split(' '))
  const isLinear = commits.every((ids) => ids.length === 2)
  const steps = isLinear ? commits.map(([commit = '', parent = '']) => ({ commit, parent })) : []
  if (!isLinear) steps.push({ commit: head, parent: lies_on })
  let tip = onto
  let tree = await treeOf(cwd, onto, { signal })
  for (const { commit, parent } of steps) {
    const base = await treeOf(cwd, parent, { signal })
    const theirs = await treeOf(cwd, commit, { signal })
    const merged = await mergeWithBase(cwd, { base, ours: tree, theirs }, { signal })
    if (merged.kind === 'conflict') return { kind: 'conflict', tree: merged }
    // A commit whose changes are there already brings nothing new.
    if (merged.tree === tree && base !== theirs) continue
    const onTip = { tree: merged.tree, parents: [tip], message }
    tip = isLinear
      ? await recommit(cwd, commit, { tree: merged.tree, parent: tip }, { signal })
      : await commitTree(cwd, onTip, { signal })
    tree = merged.tree
  }
  return { kind: 'clean', commit: tip }
}

/** null when the branch has moved in between. */
async function move(
  request: RestackRequest,
  { from, to, onto }: { readonly from: string; readonly to: string; readonly onto: string },
  { signal, now, beforeMove }: RestackOptions,
): Promise<RestackResult | null> {
  const { repo_path: repo, branch, onto_branch } = request
  const [changes, checkouts, tree_before, tree_after] = await Promise.all([
    changedPaths(repo, from, to, { signal }),
    checkoutsToUpdate(repo, branch, { signal }),
    treeOf(repo, from, { signal }),
    treeOf(repo, to, { signal }),
  ])
  const rescue_ref = await keepTip(request, from, { signal, now })
  const planned = { from, to, onto, tree_before, tree_after }
  beforeMove(planned)
  const reason = `copse: bring along onto ${onto_branch}`
  const moved = await moveBranch({ repo, branch, from, to, reason, changes, checkouts })
  if (moved.kind === 'not_moved') return null
  if (moved.kind === 'dirty') return { kind: 'in_the_way', files: moved.files }
  return { kind: 'moved', ...planned, rescue_ref }
}
