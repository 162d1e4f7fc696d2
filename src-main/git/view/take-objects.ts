import { constants } from 'node:fs'
import { copyFile, link, lstat, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Cancellable } from '../../ports/cancellable.ts'
import { GitError } from '../commands/git-error.ts'
import { isPartial } from '../commands/own-index.ts'
import { runGit } from '../commands/run-git.ts'
import { orNull } from '../files/file-errors.ts'

export interface ObjectsPlace {
  /** The common git folder that gets the objects. */
  readonly common: string
  /** The object folder of the view, which nobody may trust. */
  readonly objects: string
  /** A missing folder on the same disk, for what is not checked yet. */
  readonly unchecked: string
  /** Names of files that were taken before; more are added. */
  readonly taken: Set<string>
}

/** New objects of a view, in an object folder of Copse's own. */
interface NewObjects {
  readonly objects: string
  readonly loose: readonly string[]
  /** Packs, by the paths of their lists. */
  readonly indexes: readonly string[]
  readonly bytes: number
}

/** More are kept as one pack, as git does with what it fetches. */
const maxLoose = 100
const maxLooseBytes = 8 * 1024 * 1024

/**
 * Takes all new objects of a view into the repository, after git has checked their content and that what they lead to
 * is there. `tips`: the commits to take, without what `known` leads to, should any other object be broken. Returns
 * false if these can't be taken either.
 */
export async function takeObjects(
  place: ObjectsPlace,
  tips: readonly string[],
  known: readonly string[],
  { signal }: Cancellable,
): Promise<boolean> {
  await rm(place.unchecked, { recursive: true, force: true })
  try {
    const found = await linkNew(place)
    const names = [...found.loose, ...found.indexes.map((index) => basename(index))]
    if (names.length === 0) return true
    const options = { signal }
    const isTaken =
      (await succeeds(() => takeAll(place, found, options), signal)) ||
      (tips.length > 0 && (await succeeds(() => takeReachable(place, found, { tips, known, signal }), signal)))
    if (isTaken) for (const name of names) place.taken.add(name)
    return isTaken
  } finally {
    await rm(place.unchecked, { recursive: true, force: true })
  }
}

async function succeeds(work: () => Promise<void>, signal: AbortSignal): Promise<boolean> {
  try {
    await work()
    return true
  } catch (error) {
    if (!(error instanceof GitError) || signal.aborted) throw error
    return false
  }
}

/**
 * Links new objects to a folder of Copse's own, because a run may replace any file or folder of the view at any time
 * by a link to elsewhere or a pipe.
 */
async function linkNew({ objects: from, unchecked, taken }: ObjectsPlace): Promise<NewObjects> {
  const objects = join(unchecked, 'objects')
  await mkdir(join(objects, 'pack'), { recursive: true })
  const loose: string[] = []
  let bytes = 0
  for (const folder of (await orNull(readdir(from))) ?? []) {
    if (!/^[0-9a-f]{2}$/.test(folder)) continue
    const isNew = (name: string): boolean => /^[0-9a-f]{38,62}$/.test(name) && !taken.has(folder + name)
    for (const { name, size } of await linkFiles(join(from, folder), join(objects, folder), isNew)) {
      loose.push(folder + name)
      bytes += size
    }
  }
  // A pack without its list is not complete yet.
  const isIndex = (name: string): boolean => /^pack-[0-9a-f]+\.idx$/.test(name) && !taken.has(name)
  const pack = join(from, 'pack')
  const indexes = await linkFiles(pack, join(objects, 'pack'), isIndex)
  const packs = new Set(indexes.map(({ name }) => name.replace(/\.idx$/, '.pack')))
  if (packs.size > 0) await linkFiles(pack, join(objects, 'pack'), (name) => packs.has(name))
  return { objects, loose, indexes: indexes.map(({ name }) => join(objects, 'pack', name)), bytes }
}

/** Links the wanted ordinary files of a folder into another. The folder's place may hold anything. */
async function linkFiles(
  folder: string,
  to: string,
  isWanted: (name: string) => boolean,
): Promise<readonly { readonly name: string; readonly size: number }[]> {
  const opened = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW).catch(() => null)
  if (opened === null) return []
  try {
    const held = `/proc/self/fd/${opened.fd}`
    const linked: { readonly name: string; readonly size: number }[] = []
    const names = (await readdir(held)).filter(isWanted)
    if (names.length > 0) await mkdir(to, { recursive: true })
    for (const name of names) {
      const file = join(to, name)
      await orNull(link(join(held, name), file))
      const found = await orNull(lstat(file))
      if (found?.isFile() === true) linked.push({ name, size: found.size })
      else await rm(file, { recursive: true, force: true })
    }
    return linked
  } finally {
    await opened.close()
  }
}

async function takeAll(place: ObjectsPlace, found: NewObjects, options: Cancellable): Promise<void> {
  const { loose, indexes, bytes } = found
  const isSmall = indexes.length === 0 && loose.length < maxLoose && bytes < maxLooseBytes
  // Objects of a partial clone may lead to others that are on its server only, which no strict check allows.
  if (isSmall && !(await isPartial(join(place.common, 'objects')))) return await takeLoose(place, found, options)
  const packed: string[] = []
  for (const index of indexes) packed.push(...(await listPacked(place, index, options)))
  await takePack(place, found, { args: [], wanted: [...loose, ...packed], ...options })
}

async function takeReachable(
  place: ObjectsPlace,
  found: NewObjects,
  { tips, known, signal }: Cancellable & { readonly tips: readonly string[]; readonly known: readonly string[] },
): Promise<void> {
  const wanted = [...tips, ...known.map((commit) => `^${commit}`)]
  await takePack(place, found, { args: ['--revs', '--local'], wanted, signal })
}

async function listPacked(
  { common }: ObjectsPlace,
  index: string,
  { signal }: Cancellable,
): Promise<readonly string[]> {
  const { stdout } = await runGit(common, ['show-index'], { signal, input: await readFile(index) })
  return stdout
    .toString('latin1')
    .split('\n')
    .flatMap((line) => line.split(' ')[1] ?? [])
}

async function takeLoose(
  { common, unchecked }: ObjectsPlace,
  { objects, loose }: NewObjects,
  { signal }: Cancellable,
): Promise<void> {
  const pack = ['--git-dir', common, 'pack-objects', '-q', '--stdout', '--window=0']
  const { stdout } = await runGit(common, pack, { signal, input: lines(loose), env: sourceOf(common, objects) })
  // Git writes objects before its last checks, such as those of `.gitmodules`: a refused one must not stay.
  const checked = join(unchecked, 'loose')
  await mkdir(checked)
  const unpack = ['--git-dir', common, 'unpack-objects', '-q', '--strict']
  await runGit(common, unpack, { signal, access: 'write', input: stdout, env: sourceOf(common, checked) })
  for (const folder of await readdir(checked)) {
    if (!/^[0-9a-f]{2}$/.test(folder)) continue
    const to = join(common, 'objects', folder)
    await mkdir(to, { recursive: true })
    for (const name of await readdir(join(checked, folder))) await move(join(checked, folder, name), join(to, name))
  }
}

/** Writes a pack outside of the repository, checks it and moves it there. */
async function takePack(
  { common, unchecked }: ObjectsPlace,
  { objects }: NewObjects,
  { args, wanted, signal }: Cancellable & { readonly args: readonly string[]; readonly wanted: readonly string[] },
): Promise<void> {
  const folder = join(unchecked, 'packs')
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder)
  const env = sourceOf(common, objects)
  const pack = ['--git-dir', common, 'pack-objects', '-q', '--non-empty', ...args, join(folder, 'pack')]
  await runGit(common, pack, { signal, input: lines(wanted), env })
  const made = (await readdir(folder)).find((name) => name.endsWith('.pack'))
  if (made === undefined) return
  const index = join(folder, made.replace(/\.pack$/, '.idx'))
  await rm(index, { force: true })
  const strict = (await isPartial(join(common, 'objects'))) ? '--fsck-objects' : '--strict'
  const check = ['--git-dir', common, 'index-pack', strict, '--no-rev-index', '-o', index, join(folder, made)]
  await runGit(common, check, { signal, access: 'write' })
  // Git finds a pack by its list, which comes last.
  for (const file of [join(folder, made), index]) await move(file, join(common, 'objects', 'pack', basename(file)))
}

/** The environment in which git reads objects of a view beside the repository's. */
function sourceOf(common: string, objects: string): Record<string, string> {
  const own = join(common, 'objects')
  return {
    GIT_OBJECT_DIRECTORY: objects,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: `"${own.replaceAll(/["\\]/g, '\\$&')}"`,
  }
}

/** Moves a file, also to another disk, so that it is whole as soon as it has its name. */
async function move(from: string, to: string): Promise<void> {
  try {
    await rename(from, to)
  } catch {
    const unfinished = join(to, '..', `tmp_${basename(to)}`)
    await copyFile(from, unfinished)
    await rename(unfinished, to)
  }
}

const lines = (words: readonly string[]): string => words.map((word) => `${word}\n`).join('')
