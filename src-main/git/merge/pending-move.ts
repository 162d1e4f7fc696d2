import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { identify, isAlive } from '../../platform/process/process.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { follow, lockCheckout, releaseLeftLock } from './checkout-lock.ts'
import { orNull } from '../files/file-errors.ts'
import { branchRef, resolveCommit } from '../commands/branch.ts'
import { peekCommonDir } from '../commands/peek.ts'
import { changedPaths } from '../commands/tree-paths.ts'
import { commonDir } from '../commands/worktree.ts'
import { restoreFiles } from './restore-files.ts'
import { checkoutsOf } from './target-checkout.ts'

const PendingMove = z.object({
  branch: z.string(),
  from: z.string(),
  to: z.string(),
  checkouts: z.array(z.string()).readonly(),
  /** Identifies the locks of the checkouts. */
  token: z.string().default(''),
  /**
   * The service that makes the move: another service on the same repository leaves the note alone while it is
   * running.
   */
  by: z.object({ pid: z.int().positive(), started: z.string() }).nullable().default(null),
})
type PendingMove = z.infer<typeof PendingMove>

const prefix = 'svc-pending-move'
const suffix = '.json'

/** Records in the repository that a branch is about to move and which checkouts must follow. */
export async function notePendingMove(
  { repo, branch, from, to, checkouts, token }: Omit<PendingMove, 'by'> & { readonly repo: string },
  { signal }: Cancellable,
): Promise<{ readonly forget: () => Promise<void> }> {
  const file = join(await noteFolder(repo, { signal }), `${prefix}-${token}${suffix}`)
  const by = await identify(process.pid)
  await writeFile(`${file}.new`, JSON.stringify({ branch, from, to, checkouts, token, by } satisfies PendingMove))
  await rename(`${file}.new`, file)
  return { forget: () => rm(file, { force: true }) }
}

/**
 * Finishes a move that a crash interrupted: if the branch is still where the move put it, its checkouts follow. Where
 * that would lose something, git refuses and the files stay.
 */
export async function finishPendingMove(repo: string, { signal }: Cancellable): Promise<void> {
  const folder = await noteFolder(repo, { signal })
  for (const name of await readdir(folder)) {
    if (!name.startsWith(prefix)) continue
    const file = join(folder, name)
    const text = name.endsWith(suffix) ? await orNull(readFile(file, 'utf8')) : null
    const move = text === null ? null : parseNote(text)
    if (move !== null && (await isAnothers(move))) continue
    if (move !== null) await finish(repo, move, { signal })
    if (text !== null) await rm(file, { force: true })
  }
}

async function finish(repo: string, move: PendingMove, { signal }: Cancellable): Promise<void> {
  for (const checkout of move.checkouts) await releaseLeftLock(checkout, move.token)
  const isThere = (await resolveCommit(repo, branchRef(move.branch), { signal })) === move.to
  if (isThere) await followLate(repo, move, { signal })
}

async function isAnothers({ by }: PendingMove): Promise<boolean> {
  return by !== null && by.pid !== process.pid && (await isAlive(by))
}

async function followLate(repo: string, { branch, from, to, checkouts, token }: PendingMove, { signal }: Cancellable) {
  const present = await checkoutsOf(repo, branch, { signal })
  for (const checkout of checkouts) {
    if (!present.includes(checkout)) continue
    await using lock = await lockCheckout(checkout, token)
    if (!(await follow(lock, from, to, { signal, dryRun: true }))) {
      await restoreFiles(lock, await changedPaths(repo, from, to, { signal }), { signal })
      await lock.reload()
    }
    if (await follow(lock, from, to, { signal })) await lock.install()
  }
}

/** A note that a power cut left empty is ignored. */
function parseNote(text: string): PendingMove | null {
  try {
    return PendingMove.parse(JSON.parse(text))
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError) return null
    throw error
  }
}

async function noteFolder(repo: string, { signal }: Cancellable): Promise<string> {
  return (await peekCommonDir(repo)) ?? (await commonDir(repo, { signal }))
}
