import { allButCopies, findCopies } from './copied-files.ts'
import { readGit, runGit, splitNul } from './run-git.ts'
import type { GitOptions } from './run-git.ts'

type Options = Pick<GitOptions, 'signal'>

/**
 * Matches everything in a worktree except the service's lock file. A pattern, because `git add` fails if an ignored
 * file is named literally, even to exclude it.
 */
export const excludeLockFile = [':/', ':(exclude,top,glob).svc.loc[k]'] as const

/** Keeps git from asking the user's file monitor for changes, and from starting one that keeps running. */
export const unmonitored = ['-c', 'core.fsmonitor=false'] as const

export interface ChangedPaths {
  /** Tracked paths that differ from HEAD, staged or not. */
  readonly changed: readonly string[]
  readonly unmerged: readonly string[]
  readonly untracked: readonly string[]
}

/** Returns the differences from HEAD. An untracked folder is one entry; with `untracked: 'no'` none is looked for. */
export async function readStatus(
  cwd: string,
  { signal, untracked = 'normal' }: Options & { readonly untracked?: 'normal' | 'no' },
): Promise<ChangedPaths> {
  const args = [
    'status',
    '--porcelain=v2',
    '-z',
    '--no-renames',
    `--untracked-files=${untracked}`,
    '--',
    ...excludeLockFile,
    ...allButCopies(await findCopies(cwd, { signal })),
  ]
  const { stdout } = await runGit(cwd, args, { signal })
  const found: { changed: string[]; unmerged: string[]; untracked: string[] } = {
    changed: [],
    unmerged: [],
    untracked: [],
  }
  for (const field of splitNul(stdout)) {
    const kind = field.charAt(0)
    if (kind === '1') found.changed.push(afterFields(field, 8))
    else if (kind === 'u') found.unmerged.push(afterFields(field, 10))
    else if (kind === '?') found.untracked.push(field.slice(2))
  }
  return found
}

export async function isDirty(cwd: string, options: Options): Promise<boolean> {
  const { changed, unmerged, untracked } = await readStatus(cwd, options)
  return changed.length + unmerged.length + untracked.length > 0
}

/** Counts the commits only in `head` and only in `base`. */
export async function countAheadBehind(
  cwd: string,
  base: string,
  head: string,
  { signal }: Options,
): Promise<{ readonly ahead: number; readonly behind: number }> {
  const out = await readGit(cwd, ['rev-list', '--left-right', '--count', `${base}...${head}`], { signal })
  const [behind = '0', ahead = '0'] = out.split('\t')
  return { ahead: Number(ahead), behind: Number(behind) }
}

/** Returns the rest of a status line after `count` space-separated fields: the path, which may contain spaces. */
export function afterFields(line: string, count: number): string {
  let at = 0
  for (let field = 0; field < count; field += 1) at = line.indexOf(' ', at) + 1
  return line.slice(at)
}
