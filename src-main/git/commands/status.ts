import { readGit, runGit, splitNul } from './run-git.ts'
import type { GitOptions } from './run-git.ts'

type Options = Pick<GitOptions, 'signal'>

/**
 * Everything in a worktree but the lock file, which belongs to the service. As a pattern: `git add` fails
 * when an ignored file is named outright, be it to leave it out.
 */
export const excludeLockFile = [':/', ':(exclude,top,glob).svc.loc[k]'] as const

/** Keeps git from asking a file monitor of the person what has changed, and from starting one that keeps running. */
export const unmonitored = ['-c', 'core.fsmonitor=false'] as const

export interface ChangedPaths {
  /** Tracked paths that differ from HEAD, staged or not. */
  readonly changed: readonly string[]
  readonly unmerged: readonly string[]
  readonly untracked: readonly string[]
}

/** What differs from HEAD. Untracked folders are one entry each; with `untracked: 'no'` they are not looked for. */
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

/** Commits only in `head` and only in `base`. */
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

/** The rest of a status line after so many space-separated fields: the path, which may have spaces itself. */
function afterFields(line: string, count: number): string {
  let at = 0
  for (let field = 0; field < count; field += 1) at = line.indexOf(' ', at) + 1
  return line.slice(at)
}
