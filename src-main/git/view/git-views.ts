import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { z } from 'zod'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'
import { createKeyedLock } from '../../platform/locks/keyed-lock.ts'
import type { Logger } from '../../platform/logging/log.ts'
import type { GitView, GitViews } from '../../ports/git-views.ts'
import { readUser } from '../commands/identity.ts'
import { orNull } from '../files/file-errors.ts'
import { makeView, mountsOf, viewFolders } from './make-view.ts'
import { readRefs } from './ref-files.ts'
import { settleHead, takeOver, type OpenView } from './take-over.ts'
import { findViewPlace, type ViewPlace } from './view-place.ts'

export interface GitViewsOptions {
  readonly dataDir: string
  readonly log?: Logger
}

const limitMs = 120_000
/** How long a view that can't be taken over is kept. */
const maxKeptMs = 30 * 24 * 3_600_000

/** Returns whether a view made room for a later one of its worktree. */
const isSetAside = (folder: string): boolean => basename(folder).includes('-')

/** What is kept beside a view, for the service that finds it after this one was killed. */
const Note = z.object({
  worktree: z.string(),
  common: z.string(),
  record: z.string(),
  own: z.string().nullable(),
})

/** Gives contained runs views of common git folders, below `views` in the data folder. */
export function createGitViews({ dataDir, log }: GitViewsOptions): GitViews {
  const root = join(dataDir, 'views')
  const folderOf = (record: string): string =>
    join(root, createHash('sha256').update(record).digest('hex').slice(0, 20))
  const branches = new Map<string, string>()
  const open = new Map<string, OpenView>()
  const locks = createKeyedLock()

  const take = async (view: OpenView): Promise<readonly string[]> => {
    const refused = await takeOver(view, { signal: AbortSignal.timeout(limitMs) })
    const { place, folder } = view
    if (refused.length > 0)
      log?.warn({ worktree: place.worktree, refused, folder }, 'not all that a contained run made could be taken over')
    return refused
  }
  /** Removes a view once all of it is taken over; one with a rest stays, and is tried again. */
  const end = async (view: OpenView): Promise<readonly string[]> => {
    const refused = await take(view)
    if (!isSetAside(view.folder)) await settleHead(view, { signal: AbortSignal.timeout(limitMs) })
    if (refused.length === 0) await rm(view.folder, { recursive: true, force: true })
    return refused
  }
  const make = async (place: ViewPlace): Promise<OpenView> => {
    const folder = folderOf(place.record)
    await clear(folder)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const { start, left } = await makeView(place, viewFolders(folder))
    await writeFile(join(folder, 'view.json'), JSON.stringify(place satisfies z.infer<typeof Note>))
    const tip = place.own === null ? null : (start.get(place.own) ?? null)
    return { place, folder, start, left: new Map(left), tip, taken: new Set(), users: 0 }
  }
  const find = async (worktree: string): Promise<ViewPlace | null> =>
    await findViewPlace(worktree, branches.get(worktree), { signal: AbortSignal.timeout(limitMs) })

  /** Takes over what is in a view that was not ended or has a rest. */
  const takeRest = async (folder: string): Promise<void> => {
    const text = await orNull(readFile(join(folder, 'view.json'), 'utf8'))
    const note = text === null ? null : Note.safeParse(parseJson(text))
    if (!note?.success) return await rm(folder, { recursive: true, force: true })
    try {
      const { ids } = await readRefs(viewFolders(folder).start)
      const tip = note.data.own === null ? null : (ids.get(note.data.own) ?? null)
      await end({ place: note.data, folder, start: ids, left: new Map(), tip, taken: new Set(), users: 0 })
    } catch (error) {
      log?.warn({ err: error, folder }, 'what a contained run made before could not be taken over')
    }
  }
  const recover = async (): Promise<void> => {
    for (const name of (await orNull(readdir(root))) ?? []) {
      const folder = join(root, name)
      if (isSetAside(folder) && Date.now() - (await stat(folder)).mtimeMs > maxKeptMs)
        await rm(folder, { recursive: true, force: true })
      else await takeRest(folder)
    }
  }
  /** Makes room for a new view. What still can't be taken over is set aside for later starts. */
  const clear = async (folder: string): Promise<void> => {
    if (!existsSync(folder)) return
    await takeRest(folder)
    if (existsSync(folder)) await rename(folder, `${folder}-${Date.now()}`)
  }
  let recovered: Promise<void> | undefined
  const whenRecovered = (): Promise<void> => (recovered ??= recover())

  return {
    expect: (worktree, branch) => void branches.set(resolve(worktree), branch),
    userOf: (worktree) => readUser(resolve(worktree), { signal: AbortSignal.timeout(limitMs) }),
    isPossible: async (worktree) => (await find(resolve(worktree))) !== null,
    takeOver: async (worktree) => {
      await whenRecovered()
      const wanted = worktree === undefined ? [...open.keys()] : [resolve(worktree)]
      for (const path of wanted) {
        if (!open.has(path)) continue
        await locks.run(path, async () => {
          const view = open.get(path)
          if (view) await take(view)
        })
      }
    },
    open: async (worktree) => {
      await whenRecovered()
      const path = resolve(worktree)
      return await locks.run(path, async () => {
        const known = open.get(path)
        const place = known ? known.place : await find(path)
        if (place === null) return null
        const view = known ?? (await make(place))
        open.set(path, view)
        view.users += 1
        const mounts = await mountsOf(place, viewFolders(view.folder))
        return { mounts, close: () => locks.run(path, () => leave(path, view)) } satisfies GitView
      })
    },
  }

  async function leave(path: string, view: OpenView): Promise<readonly string[]> {
    view.users -= 1
    if (view.users > 0) return await take(view)
    open.delete(path)
    return await end(view)
  }
}
