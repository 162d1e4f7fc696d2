import { lstat, readdir, readFile, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { orNull } from '../files/file-errors.ts'
import { readGitLink } from './git-link.ts'
import { readPlain } from '../files/plain-file.ts'

// Reads git's own files in simple cases, without starting git. Each function returns null in other cases (a
// repository within a repository's folder, a symbolic ref, another ref format): then git must be asked.

/** Returns the common folder of a repository whose root contains an ordinary `.git` folder. */
export async function peekCommonDir(repo: string): Promise<string | null> {
  const folder = join(await realpath(repo), '.git')
  if (!(await orNull(lstat(folder)))?.isDirectory()) return null
  const isWhole = (await orNull(stat(join(folder, 'HEAD')))) !== null
  const isLinked = (await orNull(lstat(join(folder, 'commondir')))) !== null
  return isWhole && !isLinked ? folder : null
}

export interface PeekedHead {
  readonly branch: string
  readonly commit: string
}

/** Returns the branch that a linked worktree is on, and its tip. */
export async function peekHead(worktree: string): Promise<PeekedHead | null> {
  const record = await readGitLink(worktree)
  if (record === null || !isWorktreeRecord(record)) return null
  const head = await readPlain(join(record, 'HEAD'))
  const branch = /^ref: refs\/heads\/(\S+)\n$/.exec(head ?? '')?.[1]
  if (branch === undefined || branch === '.invalid') return null
  const commit = await peekTip(dirname(dirname(record)), branch)
  return commit === null ? null : { branch, commit }
}

/** Returns the tip of a local branch in the repository of a linked worktree. */
export async function peekBranch(worktree: string, branch: string): Promise<string | null> {
  const record = await readGitLink(worktree)
  return record === null || !isWorktreeRecord(record) ? null : await peekTip(dirname(dirname(record)), branch)
}

export interface PeekedWorktree {
  readonly path: string
  /** null if HEAD is detached. */
  readonly branch: string | null
}

/** More are listed faster by git, which reads as many files. */
const maxPeeked = 64

/** Returns the worktrees of a repository whose common folder is an ordinary `.git`, the main one first. */
export async function peekWorktrees(common: string): Promise<readonly PeekedWorktree[] | null> {
  const main = await peekWorktree(common, { git_dir: common, path: dirname(common) })
  const names = (await orNull(readdir(join(common, 'worktrees')))) ?? []
  if (names.length > maxPeeked) return null
  const linked = await Promise.all(
    names.map(async (name) => {
      const record = join(common, 'worktrees', name)
      const link = await orNull(readFile(join(record, 'gitdir'), 'utf8'))
      // Git leaves out a record without a path, too.
      return link === null
        ? 'none'
        : await peekWorktree(common, { git_dir: record, path: dirname(resolve(record, link.trimEnd())) })
    }),
  )
  const all = [main, ...linked.filter((one) => one !== 'none')]
  const found = all.filter((one) => one !== null)
  return found.length === all.length ? found : null
}

async function peekWorktree(
  common: string,
  { git_dir, path }: { readonly git_dir: string; readonly path: string },
): Promise<PeekedWorktree | null> {
  const file = join(git_dir, 'HEAD')
  if ((await orNull(lstat(file)))?.isFile() !== true) return null
  const head = await orNull(readFile(file, 'utf8'))
  if (/^[0-9a-f]{40,64}\n$/.test(head ?? '')) return { path, branch: null }
  const branch = /^ref: refs\/heads\/(\S+)\n$/.exec(head ?? '')?.[1]
  if (branch === undefined || branch === '.invalid' || (await isSymbolic(common, branch))) return null
  return { path, branch }
}

/** Returns whether a branch is the name of another ref; only where refs are files. */
export async function isSymbolic(common: string, branch: string): Promise<boolean> {
  const file = join(common, 'refs', 'heads', branch)
  const entry = await orNull(lstat(file))
  // A folder here contains the branches below that name; a link is an old kind of symbolic ref.
  if (entry?.isFile() !== true) return entry?.isSymbolicLink() ?? false
  return (await orNull(readFile(file, 'utf8')))?.startsWith('ref:') ?? false
}

/** Excludes submodules' folders, which a `.git` file points to as well. */
const isWorktreeRecord = (record: string) => basename(dirname(record)) === 'worktrees'

/** Returns the tip of a local branch in the repository with this common folder. */
export async function peekTip(common: string, branch: string): Promise<string | null> {
  return (await findTip(common, branch)) ?? null
}

/** Returns the tips of those branches that exist. At least one has to, which shows that refs are files here. */
export async function peekTips(
  common: string,
  branches: readonly string[],
): Promise<ReadonlyMap<string, string> | null> {
  const tips = new Map<string, string>()
  for (const branch of branches) {
    const tip = await findTip(common, branch)
    if (tip === null) return null
    if (tip !== undefined) tips.set(branch, tip)
  }
  return tips.size > 0 ? tips : null
}

/** Returns whether refs are files in this repository. */
export async function usesFiles(common: string): Promise<boolean> {
  return (await orNull(lstat(join(common, 'reftable')))) === null
}

/** Returns whether a repository surely has no refs whose names begin so, as `refs/replace/`. */
export async function peekNoRefs(common: string, prefix: string): Promise<boolean> {
  const isThere = async (name: string) => (await orNull(lstat(join(common, name)))) !== null
  if ((await isThere('reftable')) || (await isThere(prefix))) return false
  const packed = await readPacked(common)
  return packed !== null && !packed.includes(` ${prefix}`)
}

/** null: git must be asked; undefined: there is no such branch, as far as refs are files. */
type FoundTip = string | null | undefined

async function findTip(common: string, branch: string): Promise<FoundTip> {
  // A name that is no valid branch name could lead the path elsewhere.
  if (!/^[\w-][\w.-]*(\/[\w-][\w.-]*)*$/.test(branch)) return null
  const loose = await findLoose(common, branch)
  if (loose !== undefined) return loose
  const packed = await readPacked(common)
  if (packed === null) return null
  const at = packed.indexOf(` refs/heads/${branch}\n`)
  // Another process may have made or packed it after the first look.
  if (at < 0) return await findLoose(common, branch)
  return toTip(packed.slice(packed.lastIndexOf('\n', at) + 1, at))
}

async function findLoose(common: string, branch: string): Promise<FoundTip> {
  const file = join(common, 'refs', 'heads', branch)
  // A folder here contains the branches below that name.
  if ((await orNull(stat(file)))?.isFile() !== true) return undefined
  const text = await orNull(readFile(file, 'utf8'))
  if (text === null) return undefined
  return text.endsWith('\n') ? toTip(text.slice(0, -1)) : null
}

const toTip = (text: string): string | null => (/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(text) ? text : null)

/** More is read faster by git, which doesn't read all of it. */
const maxPackedBytes = 1024 * 1024

/** Returns the list of packed refs: empty where there is none, null where it is long. */
async function readPacked(common: string): Promise<string | null> {
  const file = join(common, 'packed-refs')
  const found = await orNull(stat(file))
  if (found === null) return ''
  return found.size > maxPackedBytes ? null : ((await orNull(readFile(file, 'latin1'))) ?? '')
}
