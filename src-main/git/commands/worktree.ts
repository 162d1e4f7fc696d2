import { lstat, readdir, readFile, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { orNull } from '../files/file-errors.ts'
import { resolveParent } from '../files/path-guard.ts'
import { peekCommonDir, peekWorktrees } from './peek.ts'
import { readConfig, readGit, runGit, splitNul } from './run-git.ts'
import type { GitOptions } from './run-git.ts'

type Options = Pick<GitOptions, 'signal'>

export interface ListedWorktree {
  readonly path: string
  /** null if HEAD is detached, or missing (bare). */
  readonly branch: string | null
  readonly bare: boolean
}

/** Returns the repository's own folder, which all its worktrees share. */
export async function commonDir(cwd: string, { signal }: Options): Promise<string> {
  return await readGit(cwd, ['rev-parse', '--path-format=absolute', '--git-common-dir'], { signal })
}

/** Lists all worktrees, the main one (or the bare repository) first. */
export async function listWorktrees(cwd: string, { signal }: Options): Promise<readonly ListedWorktree[]> {
  const common = await peekCommonDir(cwd)
  const peeked = common === null || (await isElsewhere(common, { signal })) ? null : await peekWorktrees(common)
  if (peeked !== null) return peeked.map((one) => ({ ...one, bare: false }))
  const { stdout } = await runGit(cwd, ['worktree', 'list', '--porcelain', '-z'], { signal })
  const records: { path: string; branch: string | null; bare: boolean }[] = []
  for (const field of splitNul(stdout)) {
    const record = records.at(-1)
    if (field.startsWith('worktree ')) records.push({ path: field.slice(9), branch: null, bare: false })
    else if (record && field.startsWith('branch refs/heads/')) record.branch = field.slice('branch refs/heads/'.length)
    else if (record && field === 'bare') record.bare = true
  }
  const [main] = records
  if (main !== undefined && !main.bare) main.path = await mainWorktree(cwd, main.path, { signal })
  return records
}

/** Returns whether the files of a repository with an ordinary `.git` folder might not lie beside that. */
async function isElsewhere(common: string, { signal }: Options): Promise<boolean> {
  const settings = await readConfig({ git_dir: common, common }, { signal })
  return settings.some(({ key, value }) => key === 'core.worktree' || (key === 'core.bare' && value !== 'false'))
}

/** Returns the main worktree. Git assumes the parent of `.git`, which is wrong for a submodule, for example. */
async function mainWorktree(cwd: string, listed: string, { signal }: Options): Promise<string> {
  if ((await orNull(lstat(join(listed, '.git')))) !== null) return listed
  const isMain = (await readGit(cwd, ['rev-parse', '--absolute-git-dir'], { signal })) === listed
  const args = [...(isMain ? [] : ['--git-dir', listed]), 'rev-parse', '--show-toplevel']
  const { exit_code, stdout } = await runGit(cwd, args, { signal, accept: [0, 128] })
  return exit_code === 0 ? stdout.toString('utf8').replace(/\n$/, '') : listed
}

/**
 * Adds a worktree without files and index, which `checkOutFiles` writes: on a new branch from a commit, without
 * upstream, or on an existing branch. Inherits the sparse checkout of `repo`.
 */
export async function addWorktree(
  repo: string,
  path: string,
  from: { readonly branch: string; readonly start: string | null },
  { signal }: Options,
): Promise<void> {
  const args =
    from.start === null
      ? ['worktree', 'add', '--no-checkout', '--', path, from.branch]
      : ['worktree', 'add', '--no-checkout', '--no-track', '-b', from.branch, '--', path, from.start]
  await runGit(repo, args, { signal, access: 'write', hooks: 'run' })
}

/** Adds a detached worktree without files and index. Inherits the sparse checkout of `repo`. */
export async function addDetached(repo: string, path: string, commit: string, { signal }: Options): Promise<void> {
  const args = ['worktree', 'add', '--no-checkout', '--detach', '--', path, commit]
  await runGit(repo, args, { signal, access: 'write', hooks: 'run' })
}

/** Repairs the links between a worktree and its repository after either was moved. */
export async function repairWorktree(repo: string, path: string, { signal }: Options): Promise<void> {
  await runGit(repo, ['worktree', 'repair', '--', path], { signal, access: 'write', accept: [0, 1, 128] })
}

/**
 * Removes exactly the repository's record of a worktree whose folder is gone. `git worktree remove` would also delete
 * a folder that has taken its place.
 */
export async function pruneWorktree(record: string): Promise<void> {
  await rm(record, { recursive: true, force: true })
}

/**
 * Removes the record of a worktree whose creation was interrupted: git named it after the folder but the file with
 * its path is missing.
 */
export async function pruneIncomplete(common: string, path: string): Promise<void> {
  const record = join(common, 'worktrees', basename(path))
  if ((await orNull(stat(join(record, 'gitdir')))) === null) await pruneWorktree(record)
}

/** Returns the folder of the repository's record of the worktree at `path`; null when there is none. */
export async function findRecord(common: string, path: string): Promise<string | null> {
  const wanted = await resolveParent(path)
  const names = (await orNull(readdir(join(common, 'worktrees')))) ?? []
  const found = await Promise.all(
    names.map(async (name) => {
      const record = join(common, 'worktrees', name)
      const link = await orNull(readFile(join(record, 'gitdir'), 'utf8'))
      const place = link === null ? null : dirname(resolve(record, link.trimEnd()))
      // Symlinks above the worktree don't change its name, so the name decides cheaply in most cases.
      return place !== null && basename(place) === basename(wanted) && (await resolveParent(place)) === wanted
        ? record
        : null
    }),
  )
  return found.find((record) => record !== null) ?? null
}
