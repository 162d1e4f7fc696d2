import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Cancellable } from '../engine/ports.ts'
import { orNull } from './file-errors.ts'
import { branchRef, resolveCommit } from './git/branch.ts'
import { commonDir } from './git/worktree.ts'
import { checkoutsOf, follow } from './target-checkout.ts'

const PendingMove = z.object({ branch: z.string(), from: z.string(), to: z.string(), checkouts: z.array(z.string()) })

interface Move {
  readonly branch: string
  readonly from: string
  readonly to: string
  readonly checkouts: readonly string[]
}

/** Writes down, in the repository, that a branch is about to move and which checkouts must follow. */
export async function notePendingMove(
  repo: string,
  move: Move,
  { signal }: Cancellable,
): Promise<{ readonly forget: () => Promise<void> }> {
  const file = await noteFile(repo, { signal })
  await writeFile(`${file}.new`, JSON.stringify(move))
  await rename(`${file}.new`, file)
  return { forget: () => rm(file, { force: true }) }
}

/**
 * Finishes a move that a crash cut short: if the branch still is where the move put it, the checkouts that have it
 * follow. git refuses, as ever, where that would lose something; then the files stay as they are.
 */
export async function finishPendingMove(repo: string, { signal }: Cancellable): Promise<void> {
  const file = await noteFile(repo, { signal })
  const text = await orNull(readFile(file, 'utf8'))
  if (text === null) return
  const move = PendingMove.parse(JSON.parse(text))
  if ((await resolveCommit(repo, branchRef(move.branch), { signal })) === move.to) {
    const present = await checkoutsOf(repo, move.branch, { signal })
    for (const checkout of move.checkouts) {
      if (present.includes(checkout)) await follow(checkout, move.from, move.to, { signal })
    }
  }
  await rm(file, { force: true })
}

async function noteFile(repo: string, { signal }: Cancellable): Promise<string> {
  return join(await commonDir(repo, { signal }), 'svc-pending-move.json')
}
