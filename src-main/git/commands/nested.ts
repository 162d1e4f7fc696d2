import { lstat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { orNull } from '../files/file-errors.ts'
import { readGitLink } from './git-link.ts'
import { largeAmong, type LargeKey } from './large-files.ts'
import { runGit } from './run-git.ts'
import type { Git, GitOptions } from './run-git.ts'
import { pathBytes, pathText } from './tree-paths.ts'
import { readPlain } from '../files/plain-file.ts'

// A repository inside a worktree, as a tool or a careless `git init` creates it: git records its commit instead of
// its files, or nothing. Its files are work too, so they are added one by one.

type Options = Pick<GitOptions, 'signal'>

/** Paths are bytes, one character each, relative to the worktree, without a slash at the end. */
export interface IndexLinks {
  /** Index entries that are commits of other repositories. */
  readonly links: readonly string[]
  /** Paths that git lists as untracked; a repository ends in `/`. */
  readonly untracked: readonly string[]
}

export interface InnerRepositories {
  /** The outermost repositories that are not submodules by the worktree's `.gitmodules`. */
  readonly nested: readonly string[]
  /** Other worktrees of the same repository, whose work is on its branches. */
  readonly worktrees: readonly string[]
  /** Submodules that are checked out. */
  readonly submodules: readonly string[]
}

/** Finds the repositories that git would record as one entry, or not at all. */
export async function findInner(worktree: string, { links, untracked }: IndexLinks): Promise<InnerRepositories> {
  const found = untracked.filter((key) => key.endsWith('/')).map((key) => key.slice(0, -1))
  const inner: { nested: string[]; worktrees: string[]; submodules: string[] } = {
    nested: [],
    worktrees: [],
    submodules: [],
  }
  if (links.length > 0) {
    const submodules = await submodulePaths(worktree)
    const isSubmodule = (key: string): boolean => submodules.has(pathText(key))
    found.push(...links.filter((key) => !isSubmodule(key)))
    for (const key of links.filter(isSubmodule)) if (await hasRepository(worktree, key)) inner.submodules.push(key)
  }
  if (found.length === 0) return inner
  const record = await readGitLink(worktree)
  const siblings = record === null ? join(worktree, '.git', 'worktrees') : dirname(record)
  for (const key of new Set(found)) {
    if (!(await hasRepository(worktree, key))) continue
    const link = await readGitLink(join(worktree, pathText(key)))
    if (link !== null && dirname(link) === siblings) inner.worktrees.push(key)
    else inner.nested.push(key)
  }
  return inner
}

/**
 * Finds inner repositories by the worktree's own index; `links` are the index entries of other repositories' commits,
 * by path.
 */
export async function listInner(
  worktree: string,
  options: Options,
): Promise<InnerRepositories & { readonly links: ReadonlyMap<string, string> }> {
  const { stdout } = await runGit(worktree, [...listIndexAndUntracked, '--full-name', ':/'], options)
  const { staged, untracked } = splitListing(stdout)
  const links = new Map(linesOfLinks(staged).map(({ key, id }) => [key, id]))
  return { ...(await findInner(worktree, { links: [...links.keys()], untracked })), links }
}

/** Arguments that list, in one command, the index with its marks and the untracked files that are not ignored. */
export const listIndexAndUntracked = ['ls-files', '-v', '--stage', '--others', '--exclude-standard', '-z'] as const

/**
 * Splits the output of `listIndexAndUntracked` into lines of the index, as in `H 100644 <id> 0<TAB>path`, and paths.
 */
export function splitListing(output: Buffer): {
  readonly staged: readonly string[]
  readonly untracked: readonly string[]
} {
  const fields = fieldsOf(output)
  return {
    staged: fields.filter((line) => !line.startsWith('? ')),
    untracked: fields.filter((line) => line.startsWith('? ')).map((line) => line.slice(2)),
  }
}

/** Returns the commits of other repositories among lines of the index. */
export function linesOfLinks(staged: readonly string[]): readonly { readonly key: string; readonly id: string }[] {
  return staged
    .filter((line) => line.startsWith('160000 ', 2))
    .map((line) => ({ key: line.slice(line.indexOf('\t') + 1), id: line.split(' ', 3)[2] ?? '' }))
}

/**
 * Adds the files of nested repositories to the index of `git`, instead of their commits. Returns those that are left out
 * because they are larger than `max_file_bytes`.
 */
export async function addNestedFiles(
  worktree: string,
  git: Git,
  { nested, worktrees }: InnerRepositories,
  options: Options & { readonly max_file_bytes?: number | undefined },
): Promise<readonly LargeKey[]> {
  const inner = [...nested, ...worktrees]
  if (inner.length === 0) return []
  const all: string[] = []
  for (const key of nested) all.push(...(await filesOf(worktree, key, options)))
  const limit = options.max_file_bytes
  const large = limit === undefined ? [] : await largeAmong(worktree, all, limit)
  const left = new Set(large.map(({ key }) => key))
  const files = all.filter((key) => !left.has(key))
  await git(['update-index', '-z', '--force-remove', '--stdin'], { input: asInput(inner) })
  await git(['update-index', '-z', '--add', '--remove', '--replace', '--stdin'], { input: asInput(files) })
  return large
}

/**
 * Adds the commits that submodules are at. `git add` would run git in each, with a configuration that a run can write.
 */
export async function addSubmodules(
  worktree: string,
  git: Git,
  { submodules }: InnerRepositories,
  { signal }: Options,
): Promise<void> {
  const entries: string[] = []
  for (const key of submodules) {
    const cwd = pathText(pathBytes(worktree, key).toString('latin1'))
    const args = ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}']
    // One without a commit stays as it is.
    const { stdout } = await runGit(cwd, args, { signal, accept: [0, 1, 128] })
    const head = stdout.toString('latin1').trim()
    if (head !== '') entries.push(`160000 ${head}\t${key}\0`)
  }
  const input = Buffer.from(entries.join(''), 'latin1')
  if (entries.length > 0) await git(['update-index', '-z', '--index-info'], { input })
}

/**
 * Returns patterns that exclude the repositories from `git add`, which would add their commits, fail if they have none,
 * or run git in them.
 */
export function allButInner({ nested, worktrees, submodules }: InnerRepositories): readonly string[] {
  return [...nested, ...worktrees, ...submodules].map((key) => `:(exclude,top,literal)${pathText(key)}`)
}

/** Lists the files of a nested repository and of those inside it, by each one's own ignore rules. */
export async function filesOf(worktree: string, key: string, { signal }: Options): Promise<readonly string[]> {
  const cwd = pathText(pathBytes(worktree, key).toString('latin1'))
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const { stdout } = await runGit(cwd, args, { signal })
  const files: string[] = []
  for (const name of new Set(fieldsOf(stdout))) {
    const inner = `${key}/${name.endsWith('/') ? name.slice(0, -1) : name}`
    const entry = await orNull(lstat(pathBytes(worktree, inner)))
    if (!entry?.isDirectory()) files.push(inner)
    else if (await hasRepository(worktree, inner)) files.push(...(await filesOf(worktree, inner, { signal })))
  }
  return files
}

async function hasRepository(worktree: string, key: string): Promise<boolean> {
  const entry = await orNull(lstat(pathBytes(worktree, key)))
  return entry?.isDirectory() === true && (await orNull(lstat(pathBytes(worktree, `${key}/.git`)))) !== null
}

/** Returns the paths that `.gitmodules` names. */
async function submodulePaths(worktree: string): Promise<ReadonlySet<string>> {
  const text = (await readPlain(`${worktree}/.gitmodules`)) ?? ''
  return new Set(Array.from(text.matchAll(/^\s*path\s*=\s*(.+?)\s*$/gm), ([, path = '']) => path))
}

function fieldsOf(output: Buffer): readonly string[] {
  const fields = output.toString('latin1').split('\0')
  if (fields.at(-1) === '') fields.pop()
  return fields
}

const asInput = (keys: readonly string[]): Buffer => Buffer.from(keys.map((key) => `${key}\0`).join(''), 'latin1')
