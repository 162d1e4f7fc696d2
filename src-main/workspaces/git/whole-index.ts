import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { resolveCommit } from './branch.ts'
import { runGit } from './run-git.ts'
import type { GitOptions } from './run-git.ts'
import { copyIndex } from './snapshot.ts'
import { allButLock, unmonitored } from './status.ts'
import { findUnread } from './unread-files.ts'
import type { UnreadFile } from './unread-files.ts'

/** What an entry is said to hold before git looks: nothing. By the length of the repository's object ids. */
const emptyBlobs: Readonly<Record<number, string>> = {
  40: 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391',
  64: '473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813',
}

type Options = Pick<GitOptions, 'signal'>

/**
 * Hands `use` what git needs in its environment to take every file of the worktree that is not ignored for a
 * tracked one, but those that are too large to be read. The worktree's own index is not touched, nor does anything of
 * the files come into the repository.
 */
export async function withWholeIndex<T>(
  worktree: string,
  {
    git_dir,
    known,
    signal,
  }: Options & { readonly git_dir: string; /** Any id of an object. */ readonly known: string },
  use: (env: Readonly<Record<string, string>>, unread: readonly UnreadFile[]) => Promise<T>,
): Promise<T> {
  const args = [...unmonitored, 'ls-files', '-z', '--others', '--exclude-standard', '--', ...allButLock]
  const { stdout } = await runGit(worktree, args, { signal })
  if (stdout.length === 0) return await use({}, [])
  const temporary = await mkdtemp(join(tmpdir(), 'copse-index-'))
  try {
    const index = join(temporary, 'index')
    await copyIndex(join(git_dir, 'index'), index)
    const env = { GIT_INDEX_FILE: index }
    const unread = await findUnread(worktree, stdout.toString('latin1').split('\0').slice(0, -1))
    const input = await asEntries(worktree, stdout, { signal, unread, empty: emptyBlobs[known.length] ?? known })
    await runGit(worktree, [...unmonitored, 'update-index', '-z', '--index-info'], {
      signal,
      env,
      access: 'write',
      input,
    })
    return await use(env, [...unread.values()])
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

/**
 * Index entries that say of a file no more than that it is there. Paths stay bytes: they need not be UTF-8.
 * A repository in the worktree counts by the commit that it is on; one without a commit not at all.
 */
async function asEntries(
  worktree: string,
  untracked: Buffer,
  { signal, empty, unread }: Options & { readonly empty: string; readonly unread: ReadonlyMap<string, UnreadFile> },
): Promise<Buffer> {
  const entries: Buffer[] = []
  for (let at = 0; at < untracked.length;) {
    const end = untracked.indexOf(0, at)
    const path = untracked.subarray(at, end)
    at = end + 1
    if (unread.size > 0 && unread.has(path.toString('latin1'))) continue
    if (path.at(-1) !== 0x2f) {
      entries.push(Buffer.from(`100644 ${empty}\t`), path, Buffer.of(0))
      continue
    }
    const folder = path.subarray(0, -1)
    const commit = await resolveCommit(join(worktree, folder.toString()), 'HEAD', { signal })
    if (commit !== null) entries.push(Buffer.from(`160000 ${commit}\t`), folder, Buffer.of(0))
  }
  return Buffer.concat(entries)
}
