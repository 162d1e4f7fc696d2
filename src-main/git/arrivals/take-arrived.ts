import type { RescueReason } from '../../../src-shared/contract/rescues.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { branchRef, moveRef, resolveCommit } from '../commands/branch.ts'
import { countChanged, countLooseFiles } from '../commands/count-files.ts'
import { emptyTree, treeOf } from '../commands/merge.ts'
import { runGit } from '../commands/run-git.ts'
import { rescueCommit, type RescueOptions } from '../rescue/rescue.ts'
import type { ArrivalsFolder } from './arrivals-folder.ts'

/** Copies a commit with all that it leads to into the repository; no ref leads to it yet. */
async function takeCommit(
  { folder, repo_path }: ArrivalsFolder,
  commit: string,
  { signal }: Cancellable,
): Promise<void> {
  if (
    (await resolveCommit(repo_path, commit, { signal })) === commit &&
    (await isLinked(repo_path, commit, { signal }))
  )
    return
  const quiet = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules', '--no-auto-maintenance']
  await runGit(repo_path, ['fetch', ...quiet, '--refmap=', '--', folder, commit], {
    signal,
    access: 'write',
    env: { GIT_ALLOW_PROTOCOL: 'file' },
    settings: [
      // With an older version git would hand out the tips of refs alone.
      ['protocol.version', '2'],
      ['gc.auto', '0'],
      ['maintenance.auto', 'false'],
      ['fetch.fsckObjects', 'true'],
      ['fetch.writeCommitGraph', 'false'],
      ['fetch.prune', 'false'],
    ],
  })
}

/** Returns whether a ref of the repository leads to the commit, so that git has all of it. */
async function isLinked(repo: string, commit: string, { signal }: Cancellable): Promise<boolean> {
  const args = ['for-each-ref', '--count=1', `--contains=${commit}`, '--format=%(refname)']
  return (await runGit(repo, args, { signal })).stdout.length > 0
}

/** See `Arrivals.takeBranch`. */
export async function takeBranch(
  at: ArrivalsFolder,
  { commit, from }: { readonly commit: string; readonly from: string | null },
  { signal }: Cancellable,
): Promise<'taken' | 'moved'> {
  await takeCommit(at, commit, { signal })
  const move = { to: commit, from, reason: 'copse: work that arrived' }
  if (commit === from) return 'taken'
  return (await moveRef(at.repo_path, branchRef(at.branch), move, { signal, reflog: true })) ? 'taken' : 'moved'
}

/** See `Arrivals.rescue`. */
export async function rescueArrived(
  at: ArrivalsFolder,
  task: string,
  work: { readonly commit: string; readonly kind: 'uncommitted' | 'commits'; readonly reason: RescueReason },
  options: Omit<RescueOptions, 'reason'>,
): Promise<string> {
  const { commit, kind, reason } = work
  const { repo_path } = at
  await takeCommit(at, commit, options)
  const files =
    kind === 'commits' ? await countLooseFiles(repo_path, commit, options) : await countOwn(repo_path, commit, options)
  return await rescueCommit(repo_path, commit, task, { ...options, reason, note: { kind, files } })
}

/** Counts the files that a commit changes against its first parent. */
async function countOwn(repo: string, commit: string, { signal }: Cancellable): Promise<number> {
  const parent = await resolveCommit(repo, `${commit}^`, { signal })
  const from = parent === null ? await emptyTree(repo, { signal }) : await treeOf(repo, parent, { signal })
  return await countChanged(repo, from, await treeOf(repo, commit, { signal }), { signal })
}
