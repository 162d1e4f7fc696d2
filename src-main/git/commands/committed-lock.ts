import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { readGit, runGit, type Git, type GitOptions } from './run-git.ts'
import { makeTemporary } from './temporary-folder.ts'

// An agent can add Copse's lock file in spite of the ignore rule (`git add --force`). It is no work.

type Options = Pick<GitOptions, 'signal'>

export const lockFile = '.svc.lock'

/** Makes the lock file in the index of `git` what the base has of it, which is mostly nothing. */
export async function withoutLock(git: Git, base: string | null): Promise<void> {
  const found = base === null ? null : await readEntry(git, base)
  await git(
    found === null
      ? ['update-index', '--force-remove', '--', lockFile]
      : ['update-index', '--add', '--cacheinfo', `${found},${lockFile}`],
  )
}

/** Returns the tree of a commit, with the lock file as in the base. */
export async function treeWithoutLock(
  repo: string,
  { commit, tree, base }: { readonly commit: string; readonly tree: string; readonly base: string | null },
  { signal }: Options,
): Promise<string> {
  const plain: Git = (args, more = {}) => runGit(repo, args, { signal, ...more })
  if ((await readEntry(plain, commit)) === null) return tree
  const temporary = await makeTemporary('snapshot')
  try {
    const env = { GIT_INDEX_FILE: join(temporary, 'index') }
    const git: Git = (args, more = {}) => runGit(repo, args, { signal, env, access: 'write', ...more })
    await git(['read-tree', commit])
    await withoutLock(git, base)
    return await readGit(repo, ['write-tree'], { signal, env, access: 'write' })
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

/** Returns mode and blob of the lock file in a commit, as git takes them; null if it has none. */
async function readEntry(git: Git, commit: string): Promise<string | null> {
  // 128: the commit is gone.
  const { stdout } = await git(['ls-tree', '--full-tree', commit, '--', lockFile], { accept: [0, 128] })
  const [, mode, id] = /^(\d+) blob ([0-9a-f]+)\t/.exec(stdout.toString('utf8')) ?? []
  return mode === undefined || id === undefined ? null : `${mode},${id}`
}
