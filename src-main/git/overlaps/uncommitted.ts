import { lstat, readlink } from 'node:fs/promises'
import type { BigIntStats } from 'node:fs'
import type { Cancellable } from '../../ports/cancellable.ts'
import { orNull } from '../files/file-errors.ts'
import { resolveCommit } from '../commands/branch.ts'
import { GitError } from '../commands/git-error.ts'
import { filesOf, findInner } from '../commands/nested.ts'
import { allButCopies, findCopies } from '../commands/copied-files.ts'
import { quoteName } from '../commands/raw-changes.ts'
import { runGit } from '../commands/run-git.ts'
import { afterFields, excludeLockFile, unmonitored } from '../commands/status.ts'
import { pathBytes, pathText } from '../commands/tree-paths.ts'
import { findUnread } from '../commands/unread-files.ts'

/** What a path of a worktree holds that differs from its HEAD. */
type Uncommitted =
  | { readonly kind: 'deleted' }
  | { readonly kind: 'object'; readonly mode: string; readonly id: string; readonly stamp: string }
  | { readonly kind: 'inline'; readonly mode: string; readonly data: Buffer }

/** Paths are bytes, one character each. */
export type UncommittedPaths = ReadonlyMap<string, Uncommitted>

interface Options extends Cancellable {
  /** Where blobs are written. */
  readonly env: Readonly<Record<string, string>>
}

/** More names than this are not worth a pattern each. */
const maxPatterns = 200

/**
 * Reads what differs from HEAD, untracked files included. With `changed`, only these paths and what lies below them are
 * read; the rest is as `known`.
 */
export async function readUncommitted(
  worktree: string,
  known: UncommittedPaths,
  changed: readonly string[] | null,
  { signal, env }: Options,
): Promise<UncommittedPaths> {
  if (changed?.length === 0) return known
  const only = changed !== null && changed.length <= maxPatterns && changed.every(isText) ? changed : null
  const keys = await listDiffering(worktree, only, { signal })
  const read = new Map<string, Uncommitted>()
  if (only !== null) {
    const isRead = (key: string) => only.some((one) => key === one || key.startsWith(`${one}/`))
    for (const [key, value] of known) if (!isRead(key)) read.set(key, value)
  }
  const present: string[] = []
  const isBehindLink = createLinkCheck(worktree)
  for (const key of keys) {
    if (await isBehindLink(key)) read.set(key, { kind: 'deleted' })
    else present.push(key)
  }
  const unread = await findUnread(worktree, present)
  const toHash: { key: string; mode: string; stamp: string }[] = []
  for (const key of present) {
    const path = pathBytes(worktree, key)
    const stats = await orNull(lstat(path, { bigint: true }))
    const before = known.get(key)
    if (stats === null) read.set(key, { kind: 'deleted' })
    else if (stats.isSymbolicLink())
      read.set(key, { kind: 'inline', mode: '120000', data: await readlink(path, 'buffer') })
    else if (stats.isDirectory()) {
      const commit = await resolveCommit(path.toString(), 'HEAD', { signal })
      if (commit !== null) read.set(key, { kind: 'object', mode: '160000', id: commit, stamp: commit })
    } else if (stats.isFile()) {
      const mode = (stats.mode & 0o100n) === 0n ? '100644' : '100755'
      const large = unread.get(key)
      const stamp = stampOf(stats)
      // A stand-in is binary, so that two of them conflict as the files would.
      if (large) read.set(key, { kind: 'inline', mode, data: Buffer.from(`\0${large.content}`) })
      else if (only === null && before?.kind === 'object' && before.stamp === stamp) read.set(key, { ...before, mode })
      else toHash.push({ key, mode, stamp })
    }
  }
  const ids = await hashFiles(
    worktree,
    toHash.map(({ key }) => key),
    { signal, env },
  )
  for (const [number, { key, mode, stamp }] of toHash.entries()) {
    const id = ids[number]
    // A file that can't be read counts as unchanged; when it can, that is told as a change.
    if (id) read.set(key, { kind: 'object', mode, id, stamp })
  }
  return read
}

/**
 * Returns whether a path lies behind a symbolic link in the place of one of its folders: for git it is deleted, and what
 * the link leads to is outside the work.
 */
function createLinkCheck(worktree: string): (key: string) => Promise<boolean> {
  const folders = new Map<string, Promise<boolean>>()
  const isLink = async (folder: string): Promise<boolean> => {
    if (await isBehind(folder)) return true
    return (await orNull(lstat(pathBytes(worktree, folder))))?.isSymbolicLink() ?? false
  }
  const isBehind = async (key: string): Promise<boolean> => {
    const end = key.lastIndexOf('/')
    if (end <= 0) return false
    const folder = key.slice(0, end)
    const known = folders.get(folder) ?? isLink(folder)
    folders.set(folder, known)
    return await known
  }
  return isBehind
}

const isText = (key: string): boolean => Buffer.from(pathText(key)).toString('latin1') === key

const stampOf = ({ size, mtimeNs, ctimeNs, ino }: BigIntStats): string => [size, mtimeNs, ctimeNs, ino].join(' ')

/** How many fields of a status line stand before its path, by the line's kind. */
const fieldsBefore: Readonly<Record<string, number>> = { '1': 8, u: 10, '?': 1 }

async function listDiffering(
  worktree: string,
  only: readonly string[] | null,
  { signal }: Cancellable,
): Promise<readonly string[]> {
  const form = ['--porcelain=v2', '-z', '--no-renames', '--untracked-files=all', '--ignore-submodules=dirty']
  const where = only === null ? [] : only.map((key) => `:(top,literal)${pathText(key)}`)
  const [everything, ...lock] = excludeLockFile
  const excluded = [...lock, ...allButCopies(await findCopies(worktree, { signal }))]
  const patterns = only === null ? [everything, ...excluded] : [...where, ...excluded]
  const { stdout } = await runGit(worktree, [...unmonitored, 'status', ...form, '--', ...patterns], { signal })
  const keys = new Set<string>()
  const inner: string[] = []
  for (const field of stdout.toString('latin1').split('\0')) {
    const before = fieldsBefore[field.charAt(0)]
    const key = before === undefined ? '' : afterFields(field, before)
    if (key.endsWith('/')) inner.push(key)
    else if (key !== '') keys.add(key)
  }
  const { nested } = await findInner(worktree, { links: [], untracked: inner })
  for (const key of nested) for (const name of await filesOf(worktree, key, { signal })) keys.add(name)
  return [...keys]
}

/** Returns the blobs of files as git would store them; nothing for a file that can't be read. */
async function hashFiles(
  worktree: string,
  keys: readonly string[],
  { signal, env }: Options,
): Promise<readonly (string | null)[]> {
  if (keys.length === 0) return []
  try {
    return await hashAll(worktree, keys, { signal, env })
  } catch (error) {
    if (!(error instanceof GitError) || signal.aborted) throw error
  }
  const found: (string | null)[] = []
  for (const key of keys) {
    const [id = null] = await hashAll(worktree, [key], { signal, env }).catch((error: unknown) => {
      if (!(error instanceof GitError) || signal.aborted) throw error
      return []
    })
    found.push(id)
  }
  return found
}

async function hashAll(
  worktree: string,
  keys: readonly string[],
  { signal, env }: Options,
): Promise<readonly string[]> {
  const input = Buffer.from(keys.map((key) => `${quoteName('', Buffer.from(key, 'latin1'))}\n`).join(''), 'latin1')
  const settings = ['-c', 'core.safecrlf=false', '-c', 'core.fsync=none', '-c', 'core.looseCompression=0']
  const args = [...settings, 'hash-object', '-w', '--stdin-paths']
  const { stdout } = await runGit(worktree, args, { signal, env, input, access: 'write' })
  return stdout.toString('utf8').trimEnd().split('\n')
}
