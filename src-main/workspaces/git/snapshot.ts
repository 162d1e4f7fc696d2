import { copyFile, mkdir, mkdtemp, rm, stat, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { orNull } from '../file-errors.ts'
import { readGit, runGit, splitNul } from './run-git.ts'
import type { GitOptions } from './run-git.ts'
import { allButLock } from './status.ts'

export interface Snapshot {
  /** The tree of everything in the worktree that is not ignored, staged or not. */
  readonly tree: string
  /** What git needs in its environment to see that tree. */
  readonly env: Readonly<Record<string, string>>
  /** False when some file could not be read, or is a repository of its own without a commit. */
  readonly complete: boolean
}

/**
 * Takes a snapshot of a worktree's files without touching its index, and hands it to `use`.
 * With `objects: 'thrown_away'` nothing is written into the repository either: the tree lives as long as `use` runs.
 */
export async function withSnapshot<T>(
  worktree: string,
  { signal, objects }: Pick<GitOptions, 'signal'> & { readonly objects: 'kept' | 'thrown_away' },
  use: (snapshot: Snapshot) => Promise<T>,
): Promise<T> {
  const dirs = await readGit(worktree, ['rev-parse', '--path-format=absolute', '--git-dir', '--git-path', 'objects'], {
    signal,
  })
  const [gitDir = '', objectDir = ''] = dirs.split('\n')
  const temporary = await mkdtemp(join(tmpdir(), 'copse-snapshot-'))
  try {
    const index = join(temporary, 'index')
    await copyIndex(join(gitDir, 'index'), index)
    const env = {
      GIT_INDEX_FILE: index,
      ...(objects === 'thrown_away' && (await throwAwayObjects(temporary, objectDir))),
    }
    const add = ['add', '--all', '--ignore-errors', '--', ...allButLock]
    const added = await runGit(worktree, add, { signal, env, access: 'write', accept: [0, 1] })
    const tree = await readGit(worktree, ['write-tree'], { signal, env, access: 'write' })
    return await use({ tree, env, complete: added.exit_code === 0 })
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

/**
 * The tree of what is staged, as it is in the index; files of an unfinished merge are taken from the disk.
 * The index itself is only read.
 */
export async function stagedTree(worktree: string, { signal }: Pick<GitOptions, 'signal'>): Promise<string> {
  const gitDir = await readGit(worktree, ['rev-parse', '--path-format=absolute', '--git-dir'], { signal })
  const temporary = await mkdtemp(join(tmpdir(), 'copse-staged-'))
  try {
    const index = join(temporary, 'index')
    await copyIndex(join(gitDir, 'index'), index)
    const env = { GIT_INDEX_FILE: index }
    const { stdout } = await runGit(worktree, ['diff', '--name-only', '--diff-filter=U', '-z', '--no-ext-diff'], {
      signal,
      env,
    })
    const unmerged = splitNul(stdout)
    if (unmerged.length > 0) {
      const paths = unmerged.map((path) => `:(top,literal)${path}`).join('\0')
      const add = ['add', '--all', '--ignore-errors', '--pathspec-from-file=-', '--pathspec-file-nul']
      await runGit(worktree, add, { signal, env, input: paths, access: 'write', accept: [0, 1] })
    }
    return await readGit(worktree, ['write-tree'], { signal, env, access: 'write' })
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

/** A copy that git can work on without missing a change that came within the same moment as the original's last. */
export async function copyIndex(from: string, to: string): Promise<void> {
  const times = await orNull(stat(from))
  if (times === null) return
  await copyFile(from, to)
  // git takes a file that is not older than the index for possibly changed. A copy with a newer time would make
  // it miss a change of the same size within that moment; one that is rounded down only makes it look twice.
  const seconds = Math.floor(times.mtimeMs / 1000)
  await utimes(to, seconds, seconds)
}

/** What makes git put new objects into a folder of its own, beside those that the repository has. */
export async function throwAwayObjects(temporary: string, real: string): Promise<Record<string, string>> {
  const own = join(temporary, 'objects')
  await mkdir(own)
  return { GIT_OBJECT_DIRECTORY: own, GIT_ALTERNATE_OBJECT_DIRECTORIES: `"${real.replaceAll(/["\\]/g, '\\$&')}"` }
}
