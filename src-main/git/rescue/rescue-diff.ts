import type { Rescue } from '../../../src-shared/contract/rescues.ts'
import type { FileDiff } from '../../ports/diff-reader.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { resolveCommit } from '../commands/branch.ts'
import { readPatch } from '../commands/diff.ts'
import { emptyTree, treeOf } from '../commands/merge.ts'
import { readGit, runGit } from '../commands/run-git.ts'

/**
 * Reads a rescue's content as a diff: uncommitted work against its parent, commits against the point where they left
 * the branches. With `file`, of that file alone.
 */
export async function readRescueDiff(
  { repo_path: repo, commit, kind }: Pick<Rescue, 'repo_path' | 'commit' | 'kind'>,
  file: string | null,
  { signal }: Cancellable,
): Promise<FileDiff> {
  const base =
    kind === 'commits' ? await whereItLeft(repo, commit, { signal }) : await parentOf(repo, commit, { signal })
  const from = base ?? (await emptyTree(repo, { signal }))
  const to = kind === 'commits' ? commit : await uncommittedOf(repo, commit, from, { signal })
  const { diff } = await readPatch({ cwd: repo, from, to, env: {}, unread: [] }, { signal, file })
  return { base, head: null, tree: null, ...diff }
}

/**
 * Returns the rescue's uncommitted work; the staged version, its second parent, if the work was only staged and not
 * on disk.
 */
async function uncommittedOf(repo: string, commit: string, from: string, { signal }: Cancellable): Promise<string> {
  const [now, before] = [await treeOf(repo, commit, { signal }), await treeOf(repo, from, { signal })]
  return (now === before ? await resolveCommit(repo, `${commit}^2`, { signal }) : null) ?? commit
}

const parentOf = (repo: string, commit: string, { signal }: Cancellable): Promise<string | null> =>
  resolveCommit(repo, `${commit}^`, { signal })

/**
 * Returns the commit before the first that no branch or tag has; branches to which the rescue was restored don't
 * count.
 */
async function whereItLeft(repo: string, commit: string, { signal }: Cancellable): Promise<string | null> {
  const others = ['refs/heads/', 'refs/remotes/', 'refs/tags/']
  const known = await readGit(repo, ['for-each-ref', `--no-contains=${commit}`, '--format=^%(objectname)', ...others], {
    signal,
  })
  const input = `${commit}\n${known}\n`
  const { stdout } = await runGit(repo, ['rev-list', '--first-parent', '--ignore-missing', '--stdin'], {
    signal,
    input,
  })
  const oldest = stdout.toString('utf8').trimEnd().split('\n').at(-1) ?? ''
  return await parentOf(repo, oldest === '' ? commit : oldest, { signal })
}
