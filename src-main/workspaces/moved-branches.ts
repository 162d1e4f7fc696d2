import type { Ground } from '../core/ground.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { WorkspaceError } from '../ports/workspace-error.ts'
import { noteRepositoryChanges } from './repository-changes.ts'

const limitMs = 60_000

export type BranchTips = Readonly<Record<string, string>>

/** Reads the branches' tips before a contained run; null, with a warning in the log, on an error. */
export async function readBranchTips(
  context: Ground,
  task: Pick<TaskRecord, 'id'>,
  path: string,
): Promise<BranchTips | null> {
  return await orWarn(context, path, (signal) => context.places.of(task.id).worktrees.branches(path, { signal }))
}

/** Moves back the branches that a contained run has moved besides its own, and records them for the review. */
export async function settleMovedBranches(
  context: Ground,
  task: Pick<TaskRecord, 'id'>,
  path: string,
  before: BranchTips,
): Promise<void> {
  const put = await orWarn(context, path, (signal) =>
    context.places.of(task.id).worktrees.putBackBranches(path, before, { signal }),
  )
  if (put === null || put.length === 0) return
  await context.writes.untilWritten(() =>
    context.feed.commit((tx) => {
      const current = tx.tasks.get(task.id)
      const noted = current && noteRepositoryChanges(tx, current, put)
      if (noted && noted !== current) tx.saveTask(noted)
    }),
  )
}

async function orWarn<T>(
  { log }: Pick<Ground, 'log'>,
  path: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | null> {
  const signal = AbortSignal.timeout(limitMs)
  try {
    return await work(signal)
  } catch (error) {
    if (!(error instanceof WorkspaceError) && !signal.aborted) throw error
    log.warn({ err: error, path }, 'the branches of a repository could not be looked at before or after a run')
    return null
  }
}
