import { runGit } from './run-git.ts'
import type { GitOptions } from './run-git.ts'

type Options = Pick<GitOptions, 'signal'>

/** One path that differs between two trees. */
export interface ChangedPath {
  /** The path's bytes, one character each: file names need not be UTF-8. */
  readonly key: string
  readonly status: 'A' | 'D' | 'M' | 'T'
  readonly mode: string
  /** The blob that the second tree has there. */
  readonly id: string
}

/** The paths that differ between two trees (or commits). A rename is a deletion and an addition. */
export async function changedPaths(
  cwd: string,
  from: string,
  to: string,
  { signal }: Options,
): Promise<readonly ChangedPath[]> {
  const args = ['diff-tree', '-r', '-z', '--raw', '--no-abbrev', '--no-renames', '--ignore-submodules=none', from, to]
  const fields = (await runGit(cwd, args, { signal })).stdout.toString('latin1').split('\0')
  const changes: ChangedPath[] = []
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [, mode = '', , id = '', letter] = (fields[at] ?? '').split(' ')
    const status = letter === 'A' || letter === 'D' || letter === 'T' ? letter : 'M'
    changes.push({ key: fields[at + 1] ?? '', status, mode, id })
  }
  return changes
}

/** The paths of a worktree that are not as they are in its index, or are not there. */
export async function listChanged(worktree: string, { signal }: Options): Promise<readonly string[]> {
  const args = ['ls-files', '-z', '--modified', '--others', '--exclude-standard', '--full-name', ':/']
  return (await runGit(worktree, args, { signal })).stdout.toString('latin1').split('\0').filter(Boolean)
}

/** The bytes of a path below a folder, for the file system. */
export function pathBytes(folder: string, key: string): Buffer {
  return Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(key, 'latin1')])
}

/** A path as people read it. */
export function pathText(key: string): string {
  return Buffer.from(key, 'latin1').toString('utf8')
}

/** `a/b/c` → `a/b`, `a`. */
export function parentsOf(key: string): readonly string[] {
  const found: string[] = []
  for (let end = key.lastIndexOf('/'); end > 0; end = key.lastIndexOf('/', end - 1)) found.push(key.slice(0, end))
  return found
}
