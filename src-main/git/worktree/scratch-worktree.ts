import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { z } from 'zod'
import type { KeyedLock } from '../../platform/locks/keyed-lock.ts'
import { identify, isAlive } from '../../platform/process/process.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { WorkspaceError } from '../../ports/workspace-error.ts'
import type { ScratchRequest } from '../../ports/scratch-worktrees.ts'
import { copyFiles } from '../files/copy-files.ts'
import { deleteFolder } from '../files/delete-folder.ts'
import { requireFilesHere } from './create-worktree.ts'
import { explainCheckout } from './explain-checkout.ts'
import { orNull } from '../files/file-errors.ts'
import { resolveBase } from '../commands/branch.ts'
import { checkOutFiles, readCheckoutSettings } from '../commands/checkout.ts'
import { addDetached, findRecord, pruneIncomplete, pruneWorktree } from '../commands/worktree.ts'
import { scratchFolder } from './lock.ts'
import { requireRepository } from './moved-repository.ts'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'
import { resolveParent } from '../files/path-guard.ts'
import { removeIfEmpty } from '../files/remove-empty-folders.ts'

/** A temporary worktree; disposing removes it completely. */
export interface ScratchWorktree extends AsyncDisposable {
  readonly path: string
}

export interface ScratchOptions {
  readonly repositories: KeyedLock
  /** Called if it could not be removed completely; the next start tries again. */
  readonly onLeft: (left: { readonly path: string; readonly error: unknown }) => void
}

/**
 * A note beside the worktree, from before its creation until its removal: the process that holds it, and its
 * repository.
 */
const Note = z.object({ common: z.string(), holder: z.object({ pid: z.int().positive(), started: z.string() }) })
const noteOf = (path: string): string => `${path}.json`

/**
 * Creates a detached worktree at a commit with the files that a task's would have before its setup commands. Changes
 * nothing of the repository's refs, configuration and checkout. Does not run the `post-checkout` hook.
 */
export async function createScratch(
  { repo_path: repo, root, at, copy_files }: ScratchRequest,
  options: ScratchOptions & Cancellable,
): Promise<ScratchWorktree> {
  const { signal, repositories } = options
  const common = await requireRepository(repo, { signal })
  const commit = await resolveBase(repo, at, { signal })
  if (commit === null) throw nothingThere(repo, at)
  const settings = await readCheckoutSettings(repo, common, { signal })
  const path = join(await resolveParent(join(resolve(root), scratchFolder)), randomUUID())
  await writeNote(path, common)
  const remove = async (): Promise<void> => {
    await removeScratch(path, common, options)
  }
  try {
    await repositories.run(common, () => addDetached(repo, path, commit, { signal }))
    await requireFilesHere(path, { signal })
    await checkOutFiles(path, settings, { signal }).catch(async (error: unknown) => {
      signal.throwIfAborted()
      throw await explainCheckout(repo, commit, error, { signal })
    })
    // A bare repository has no files except git's own.
    if ((await realpath(repo)) !== (await realpath(common))) await copyFiles(repo, path, copy_files)
    signal.throwIfAborted()
  } catch (error) {
    await remove()
    throw error
  }
  return { path, [Symbol.asyncDispose]: remove }
}

/** Removes such worktrees of killed services below `root`, calling `before` for each; returns the removed paths. */
export async function removeStaleScratch(
  root: string,
  before: (path: string) => Promise<void>,
  options: ScratchOptions,
): Promise<readonly string[]> {
  const folder = await resolveParent(join(resolve(root), scratchFolder))
  const names = (await orNull(readdir(folder))) ?? []
  const removed: string[] = []
  for (const path of new Set(names.map((name) => join(folder, name.replace(/\.json$/, ''))))) {
    const note = Note.safeParse(parseJson((await orNull(readFile(noteOf(path), 'utf8'))) ?? '')).data
    if (note !== undefined && (await isAlive(note.holder))) continue
    await before(path)
    if (await removeScratch(path, note?.common ?? null, options)) removed.push(path)
  }
  return removed
}

async function writeNote(path: string, common: string): Promise<void> {
  const holder = await identify(process.pid)
  if (holder === null) throw new Error('The process table does not list this very process.')
  await mkdir(dirname(path), { recursive: true })
  await writeFile(noteOf(path), JSON.stringify({ common, holder } satisfies z.infer<typeof Note>), { mode: 0o600 })
}

/**
 * Removes the worktree and returns whether it is gone. Reports a failure to `onLeft`, because the result of the work
 * there counts anyway.
 */
async function removeScratch(
  path: string,
  common: string | null,
  { repositories, onLeft }: ScratchOptions,
): Promise<boolean> {
  try {
    if (common !== null) await repositories.run(common, () => forget(path, common))
    await deleteFolder(path)
    await rm(noteOf(path), { force: true })
    return true
  } catch (error) {
    onLeft({ path, error })
    return false
  }
}

/** Does the same as `git worktree prune`: removing the last record also removes the folder of records. */
async function forget(path: string, common: string): Promise<void> {
  const record = await findRecord(common, path)
  await (record === null ? pruneIncomplete(common, path) : pruneWorktree(record))
  await removeIfEmpty(join(common, 'worktrees'))
}

function nothingThere(repo: string, at: string): WorkspaceError {
  return new WorkspaceError('git_failed', `No branch or commit “${at}” in ${repo}. Choose one that exists.`)
}
