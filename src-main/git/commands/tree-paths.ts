import { runGit } from './run-git.ts'
import type { GitOptions } from './run-git.ts'

type Options = Pick<GitOptions, 'signal'>
/** `env` may name where objects are that the repository doesn't have. */
type ObjectOptions = Pick<GitOptions, 'signal' | 'env'>

/** A path that differs between two trees. */
export interface ChangedPath {
  /** The path's bytes, one character each, because file names need not be UTF-8. */
  readonly key: string
  readonly status: 'A' | 'D' | 'M' | 'T'
  readonly mode: string
  /** The blob at the path in the second tree. */
  readonly id: string
}

/** Returns the paths that differ between two trees (or commits). A rename is a deletion and an addition. */
export async function changedPaths(
  cwd: string,
  from: string,
  to: string,
  options: ObjectOptions,
): Promise<readonly ChangedPath[]> {
  const args = ['diff-tree', '-r', '-z', '--raw', '--no-abbrev', '--no-renames', '--ignore-submodules=none', from, to]
  const fields = (await runGit(cwd, args, options)).stdout.toString('latin1').split('\0')
  const changes: ChangedPath[] = []
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [, mode = '', , id = '', letter] = (fields[at] ?? '').split(' ')
    const status = letter === 'A' || letter === 'D' || letter === 'T' ? letter : 'M'
    changes.push({ key: fields[at + 1] ?? '', status, mode, id })
  }
  return changes
}

/** Returns the paths of a worktree that differ from its index or are missing. */
export async function listChanged(worktree: string, { signal }: Options): Promise<readonly string[]> {
  const args = ['ls-files', '-z', '--modified', '--others', '--exclude-standard', '--full-name', ':/']
  return (await runGit(worktree, args, { signal })).stdout.toString('latin1').split('\0').filter(Boolean)
}

/** Returns the bytes of a path below a folder, for the file system. */
export function pathBytes(folder: string, key: string): Buffer {
  return Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(key, 'latin1')])
}

/** Returns a path as readable text. */
export function pathText(key: string): string {
  return Buffer.from(key, 'latin1').toString('utf8')
}

/** Returns the parent folders: `a/b/c` → `a/b`, `a`. */
export function parentsOf(key: string): readonly string[] {
  const found: string[] = []
  for (let end = key.lastIndexOf('/'); end > 0; end = key.lastIndexOf('/', end - 1)) found.push(key.slice(0, end))
  return found
}
