import { resolveCommit } from './branch.ts'
import { allButCopies, findCopies, unstageCopies } from './copied-files.ts'
import { GitError } from './git-error.ts'
import { identityOptions } from './identity.ts'
import { addNestedFiles, addSubmodules, allButInner, listInner } from './nested.ts'
import { readGit, runGit } from './run-git.ts'
import type { Git, GitOptions } from './run-git.ts'
import { excludeLockFile, readStatus } from './status.ts'
import { hasMessage, unfinishedCommand } from './unfinished.ts'
import { refuseUnresolved } from './unmerged.ts'

type Options = Pick<GitOptions, 'signal'>

/** Creates a commit object; no ref and no worktree changes. Never signs, because no one could unlock a key. */
export async function commitTree(
  cwd: string,
  commit: { readonly tree: string; readonly parents: readonly string[]; readonly message: string },
  { signal, env = {} }: Options & { readonly env?: Readonly<Record<string, string>> },
): Promise<string> {
  const parents = commit.parents.flatMap((parent) => ['-p', parent])
  const make = (identity: readonly string[]): Promise<string> => {
    const args = [...identity, 'commit-tree', '--no-gpg-sign', commit.tree, ...parents, '-F', '-']
    return readGit(cwd, args, { signal, env, input: commit.message, access: 'write' })
  }
  try {
    return await make(['-c', 'user.useConfigOnly=true'])
  } catch (error) {
    if (!(error instanceof GitError) || error.code !== 'failed') throw error
    // The usual cause is a missing identity in git's configuration; any other failure will repeat.
    return await make(await identityOptions(cwd, { signal }))
  }
}

/**
 * Commits everything that is not ignored on top of HEAD; returns null if there is nothing. Runs no hooks
 * (`--no-verify` alone would leave some) and never signs, so that saving work can't fail; the project's CI steps do
 * the checks of hooks. Refuses files that still have conflict markers of an unfinished merge; once they are resolved,
 * concludes that merge.
 */
export async function commitEverything(cwd: string, message: string, { signal }: Options): Promise<string | null> {
  const status = await readStatus(cwd, { signal })
  const isMerging = (await unfinishedCommand(cwd)) === 'merge'
  if (status.changed.length + status.unmerged.length + status.untracked.length === 0 && !isMerging) return null
  if (status.unmerged.length > 0) await refuseUnresolved(cwd, { signal })
  // `--sparse` also adds files outside the sparse checkout.
  const inner = await listInner(cwd, { signal })
  const copies = await findCopies(cwd, { signal })
  const others = [...excludeLockFile, ...allButCopies(copies), ...allButInner(inner)]
  await runGit(cwd, ['add', '--all', '--sparse', '--ignore-errors', '--', ...others], {
    signal,
    access: 'write',
    accept: [0, 1],
  })
  const git: Git = (args, more = {}) => runGit(cwd, args, { signal, access: 'write', ...more })
  await addSubmodules(cwd, git, inner, { signal })
  await addNestedFiles(cwd, git, inner, { signal })
  await unstageCopies(git, copies)
  const staged = await runGit(cwd, ['diff', '--cached', '--quiet', 'HEAD', '--'], { signal, accept: [0, 1, 128] })
  if (staged.exit_code === 0 && !isMerging) return null
  const quiet = ['-c', 'commit.gpgSign=false', '-c', 'gc.auto=0', '-c', 'core.hooksPath=/dev/null']
  const options = [...(await identityOptions(cwd, { signal })), ...quiet]
  const commit = [...options, 'commit', '--quiet', '--no-verify']
  // A merge got its message when it was started.
  if (isMerging && (await hasMessage(cwd))) {
    await runGit(cwd, [...commit, '--cleanup=strip', '--no-edit'], { signal, access: 'write' })
  } else {
    await runGit(cwd, [...commit, '--cleanup=whitespace', '-F', '-'], { signal, input: message, access: 'write' })
  }
  return await resolveCommit(cwd, 'HEAD', { signal })
}
