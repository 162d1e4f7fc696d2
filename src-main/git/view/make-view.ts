import { copyFile, cp, lstat, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { ViewMount } from '../../ports/git-views.ts'
import { orNull } from '../files/file-errors.ts'
import { copyRefs, placeOf, writeRef } from './ref-files.ts'
import { leftIn, leftPrefix } from './left-refs.ts'
import type { ViewPlace } from './view-place.ts'

/** Where the parts of a view lie. */
export interface ViewFolders {
  /** What a run has for the common git folder. */
  readonly git: string
  /** What it has for the `objects/info` of the repository, where that can't be shown as it is. */
  readonly info: string
  readonly unchecked: string
  /** The refs with which the view began. */
  readonly start: string
}

export const viewFolders = (folder: string): ViewFolders => ({
  git: join(folder, 'git'),
  info: join(folder, 'info'),
  unchecked: join(folder, 'unchecked'),
  start: join(folder, 'start'),
})

/** The repository's own objects, as a run sees them. */
const base = 'svc-base'
/** What git writes in a common folder, which a view has of its own; and the state of the main worktree. */
const own =
  /^(?:objects|refs|logs|packed-refs|worktrees|rr-cache|index|[A-Z_]+_(?:HEAD|MSG|EDITMSG|MODE|RR)|rebase-.*|sequencer|BISECT_.*|gc\..*|svc-base|.*\.lock)$/
const copied = new Set(['hooks', 'info'])
const maxCopiedBytes = 1024 * 1024

export interface MadeView {
  /** The refs with which the view begins, but for those that earlier runs left. */
  readonly start: ReadonlyMap<string, string>
  /** Refs of the repository for what earlier runs left, as far as it is in the view. */
  readonly left: ReadonlyMap<string, string>
}

/** Makes the folders of a view from the repository as it is now; with what earlier runs left. */
export async function makeView(place: ViewPlace, folders: ViewFolders): Promise<MadeView> {
  const { common, record } = place
  const { git, start } = folders
  for (const folder of [git, start]) {
    await rm(folder, { recursive: true, force: true })
    await mkdir(folder, { recursive: true, mode: 0o700 })
  }
  const made = ['objects/info', 'objects/pack', `${base}/objects`, `worktrees/${basename(record)}`]
  for (const name of made) await mkdir(join(git, name), { recursive: true })
  await writeFile(join(git, 'objects', 'info', 'alternates'), `../${base}/objects\n`)
  const { kept, rest } = await copyRefs(common, git, isSeen)
  await copyFile(join(git, 'packed-refs'), join(start, 'packed-refs'))
  await copySettings(common, git)
  if (place.own !== null) await copyLog(common, git, place.own)
  const left = leftIn(rest, place)
  const heads = [...left.heads].filter(([ref]) => !kept.has(ref))
  for (const [ref, commit] of heads) await writeRef(git, ref, commit)
  await writeStash(git, left.stash)
  const prefix = leftPrefix(place.worktree)
  const loaded = [
    ...heads.map(([ref, commit]) => [prefix + ref.slice('refs/'.length), commit] as const),
    ...left.stash.map((commit) => [`${prefix}stash/${commit}`, commit] as const),
  ]
  return { start: kept, left: new Map(loaded) }
}

/** The user's stash is nobody else's, and a worktree's own refs lie in its record. */
const isSeen = (ref: string): boolean => !/^refs\/(?:stash$|svc\/|bisect\/|worktree\/|rewritten\/)/.test(ref)

async function copySettings(common: string, git: string): Promise<void> {
  for (const entry of await readdir(common, { withFileTypes: true })) {
    const [from, to] = [join(common, entry.name), join(git, entry.name)]
    if (own.test(entry.name)) continue
    if (entry.isDirectory() && !copied.has(entry.name)) await mkdir(to)
    else if (entry.isDirectory()) await cp(from, to, { recursive: true, verbatimSymlinks: true, filter: isPlain })
    else if (entry.isFile() && ((await orNull(lstat(from)))?.size ?? 0) <= maxCopiedBytes)
      await orNull(copyFile(from, to))
  }
}

/** A pipe would never end. */
const isPlain = async (path: string): Promise<boolean> => {
  const found = await lstat(path)
  return found.isFile() || found.isDirectory() || found.isSymbolicLink()
}

async function copyLog(common: string, git: string, ref: string): Promise<void> {
  await mkdir(placeOf(join(git, 'logs'), dirname(ref)), { recursive: true })
  await orNull(copyFile(placeOf(join(common, 'logs'), ref), placeOf(join(git, 'logs'), ref)))
}

async function writeStash(git: string, entries: readonly string[]): Promise<void> {
  const last = entries.at(-1)
  if (last === undefined) return
  const none = '0'.repeat(last.length)
  const line = (commit: string, at: number) =>
    `${entries[at - 1] ?? none} ${commit} Copse <copse> 0 +0000\tkept from an earlier run\n`
  await writeRef(git, 'refs/stash', last)
  await mkdir(join(git, 'logs', 'refs'), { recursive: true })
  await writeFile(join(git, 'logs', 'refs', 'stash'), entries.map(line).join(''))
}

/** Returns what is mounted for a run; later mounts lie over earlier ones. */
export async function mountsOf(
  { common, record }: ViewPlace,
  { git, info }: ViewFolders,
): Promise<readonly ViewMount[]> {
  const mounts: ViewMount[] = []
  const add = (writable: boolean, from: string, to: string): void => void mounts.push({ from, to, writable })
  const objects = join(common, 'objects')
  add(true, git, common)
  // A place that something is mounted at can't be renamed, so this stays where Copse looks for it.
  add(true, join(git, 'objects'), objects)
  add(false, objects, join(common, base, 'objects'))
  if (await namesRelative(objects)) add(false, await absoluteInfo(objects, info), join(common, base, 'objects', 'info'))
  for (const entry of await readdir(common, { withFileTypes: true }))
    if (entry.isDirectory() && !own.test(entry.name) && !copied.has(entry.name))
      add(false, join(common, entry.name), join(common, entry.name))
  // Git would read a new one outside, too, if the repository wants one for each worktree.
  if (/worktreeconfig/i.test((await orNull(readFile(join(common, 'config'), 'utf8'))) ?? ''))
    await writeFile(join(record, 'config.worktree'), '', { flag: 'a' })
  const seen = join(common, 'worktrees', basename(record))
  add(true, record, seen)
  for (const name of ['commondir', 'gitdir', 'config.worktree'])
    if ((await orNull(lstat(join(record, name)))) !== null) add(false, join(record, name), join(seen, name))
  return mounts
}

const alternatesOf = async (objects: string): Promise<readonly string[]> =>
  ((await orNull(readFile(join(objects, 'info', 'alternates'), 'utf8'))) ?? '').split('\n').filter(Boolean)

const namesRelative = async (objects: string): Promise<boolean> =>
  (await alternatesOf(objects)).some((line) => !/^[/#"]/.test(line))

/** Makes an `objects/info` for the repository's objects at another depth, where relative paths lead elsewhere. */
async function absoluteInfo(objects: string, info: string): Promise<string> {
  await mkdir(info, { recursive: true })
  const lines = (await alternatesOf(objects)).map((line) => (/^[/#"]/.test(line) ? line : join(objects, line)))
  await writeFile(join(info, 'alternates'), `${lines.join('\n')}\n`)
  return info
}
