import { lstat } from 'node:fs/promises'
import type { FileChange } from '../../ports/diff-reader.ts'
import { readGit } from './run-git.ts'
import type { GitOptions } from './run-git.ts'
import { pathBytes, pathText } from './tree-paths.ts'

/** A file that is too large to be read repeatedly: described by name, size and time. */
export interface UnreadFile {
  readonly path: string
  readonly mode: '100644' | '100755'
  /** Stands for the content; changes when the file is written to. */
  readonly content: string
  readonly size: number
}

/** Git would read a larger file completely to get its ID and lines. */
const largest = 128 * 1024 * 1024
/** Limit of all files together; the largest are left out first, because each is copied while a diff is read. */
const largestTotal = 512 * 1024 * 1024
const atOnce = 64
/** Each file takes a pattern on git's command line. */
const maxPatterns = 1_000

/** Returns which of these files (paths as bytes, one character each) must not be read. */
export async function findUnread(worktree: string, keys: readonly string[]): Promise<ReadonlyMap<string, UnreadFile>> {
  const found: (readonly [key: string, file: UnreadFile])[] = []
  for (let at = 0; at < keys.length; at += atOnce) {
    const some = keys.slice(at, at + atOnce)
    const files = await Promise.all(some.map((key) => describeFile(worktree, key)))
    for (const [number, key] of some.entries()) {
      const file = files[number]
      if (file) found.push([key, file])
    }
  }
  let total = found.reduce((sum, [, { size }]) => sum + size, 0)
  if (total <= largest) return new Map()
  const unread = new Map<string, UnreadFile>()
  for (const [key, file] of found.toSorted(([, one], [, other]) => other.size - one.size)) {
    if ((file.size <= largest && total <= largestTotal) || unread.size >= maxPatterns) break
    unread.set(key, file)
    total -= file.size
  }
  return unread
}

async function describeFile(worktree: string, key: string): Promise<UnreadFile | null> {
  try {
    const { size, mode, mtimeMs } = await lstat(pathBytes(worktree, key))
    if ((mode & 0o170000) !== 0o100000) return null
    const path = pathText(key)
    // A name that is not UTF-8 can't be passed to git.
    if (Buffer.from(path).toString('latin1') !== key) return null
    return { path, mode: mode & 0o100 ? '100755' : '100644', content: `unread-${size}-${mtimeMs}`, size }
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null
    throw error
  }
}

/** Returns patterns that exclude the files from git commands. */
export function allBut(unread: readonly UnreadFile[]): readonly string[] {
  return unread.map(({ path }) => `:(exclude,top,literal)${path}`)
}

/** Returns the files as changes against a tree (or commit). */
export async function unreadChanges(
  { cwd, from, unread }: { readonly cwd: string; readonly from: string; readonly unread: readonly UnreadFile[] },
  { signal }: Pick<GitOptions, 'signal'>,
): Promise<readonly FileChange[]> {
  const changes = unread.map(async ({ path, mode, content }): Promise<FileChange> => {
    const known = await readGit(cwd, ['--literal-pathspecs', 'ls-tree', '--full-tree', from, '--', path], { signal })
    const old_mode = known.split(' ')[0]
    return {
      path,
      old_path: null,
      status: old_mode ? 'modified' : 'added',
      old_mode: old_mode ? old_mode : null,
      new_mode: mode,
      blob: content,
      additions: 0,
      deletions: 0,
      binary: false,
      truncated: true,
      reason: 'too_large',
    }
  })
  return await Promise.all(changes)
}

/** Merges two lists of changes in git's order. */
export function inOrder(files: readonly FileChange[], more: readonly FileChange[]): readonly FileChange[] {
  if (more.length === 0) return files
  const bytes = new Map([...files, ...more].map((file) => [file, Buffer.from(file.path)]))
  const of = (file: FileChange): Buffer => bytes.get(file) ?? Buffer.alloc(0)
  return [...files, ...more].sort((one, other) => Buffer.compare(of(one), of(other)))
}
