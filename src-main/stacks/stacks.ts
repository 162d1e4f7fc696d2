import type { TaskId } from '../../src-shared/contract/ids.ts'
import { isRefusal } from '../domain/refusal.ts'
import type { Queries } from '../ports/store.ts'
import { keepStackedWork } from '../workspaces/keep-lower.ts'
import { withWorktreeLock } from '../workspaces/with-worktree-lock.ts'
import { findStackedBranch, type BroughtBranch, type StackDeps, type StackedBranch } from './stack-facts.ts'
import { bringHeld } from './restack.ts'
import { noteArchivedBelow, tellConflict } from './stack-trouble.ts'
import { goOn } from './stack-cascade.ts'

/** Keeps the branches of stacked tasks on those of the tasks below them. */
export interface Stacks {
  /**
   * Brings along what can be brought along now: a task that has changed and those above it, or all. What can't is tried
   * again at the next look.
   */
  look(task_id?: TaskId): void
  /** The same for one task; returns once it is done. Never rejects. */
  bringAlong(task_id: TaskId, signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

export function createStacks(deps: StackDeps): Stacks {
  const { context } = deps
  const { read } = context.store
  const closing = new AbortController()
  const underWay = new Map<TaskId, Promise<void>>()
  /** Tasks that changed while their branch was brought along. */
  const again = new Set<TaskId>()
  let looking: NodeJS.Immediate | null = null
  /** Tasks that have changed since the last look; null: look at all. */
  let changed: Set<TaskId> | null = new Set()

  const begin = (id: TaskId): Promise<void> => {
    const known = underWay.get(id)
    if (known) {
      again.add(id)
      return known
    }
    const bringing = bring(deps, id, closing.signal)
      .then((hasMoved) => {
        goOn(deps, id)
        if (!hasMoved) return
        // Those above it follow.
        look(id)
        deps.onBrought(id)
      })
      .catch((error: unknown) => {
        if (!closing.signal.aborted)
          context.log.error({ err: error, task_id: id }, 'the branch of a stacked task could not be brought along')
      })
      .finally(() => {
        underWay.delete(id)
        if (again.delete(id)) look(id)
      })
    underWay.set(id, bringing)
    return bringing
  }
  const takeChanged = (): Iterable<TaskId> => {
    const found = changed
    changed = new Set()
    if (found === null) return read.tasks.stacked()
    // A set grows while it is walked: those above are walked too.
    for (const id of found) for (const upper of read.tasks.stackedOn(id)) found.add(upper)
    return [...found].filter((id) => (read.tasks.get(id)?.stacked_on ?? null) !== null || isStill(read, id))
  }
  const look = (task_id?: TaskId): void => {
    if (task_id === undefined) changed = null
    else changed?.add(task_id)
    looking ??= setImmediate(() => {
      looking = null
      if (closing.signal.aborted) return
      for (const id of takeChanged()) void begin(id)
    })
  }
  return {
    look,
    bringAlong: async (task_id, signal) => {
      // One that is under way may have read what was so before.
      await underWay.get(task_id)
      if (!signal.aborted && !closing.signal.aborted) await begin(task_id)
    },
    close: async () => {
      closing.abort(new Error('The service is stopping.'))
      if (looking) clearImmediate(looking)
      await Promise.all(underWay.values())
    },
  }
}

/** Returns whether a task that is no longer stacked still lies on the branch of another. */
const isStill = (q: Queries, id: TaskId): boolean => (q.workspaces.byTask(id)?.stack ?? null) !== null

/** Returns whether the branch has moved. */
async function bring(deps: StackDeps, id: TaskId, signal: AbortSignal): Promise<boolean> {
  const { context, worktrees } = deps
  noteArchivedBelow(deps, id)
  const found = findStackedBranch(deps, id)
  if (!found || (await isInPlace(deps, found, signal))) return false
  await keepStackedWork(deps, found.task, signal)
  const outcome = await worktrees.exclusively(found.task, async (): Promise<BroughtBranch | null> => {
    const now = findStackedBranch(deps, id)
    if (!now) return null
    const ref = await worktrees.ref(now.workspace)
    const done = await withWorktreeLock(context, now.workspace.task_id, ref.path, () => bringHeld(deps, now, signal))
    return done !== null && isRefusal(done) ? null : done
  })
  if (!outcome) return false
  if (outcome.result.kind === 'conflict') await tellConflict(deps, outcome, outcome.result, signal)
  return outcome.result.kind === 'moved' || outcome.result.kind === 'up_to_date'
}

/** Returns whether the branch lies on the newest commit of the one below already. */
async function isInPlace(
  { context }: StackDeps,
  { workspace, lower }: StackedBranch,
  signal: AbortSignal,
): Promise<boolean> {
  const { stack, base_commit, repo_path } = workspace
  if (lower?.workspace == null || stack === null || stack.on !== lower.task.id) return false
  if (stack.moving !== null || stack.conflict !== null || stack.trouble !== null) return false
  return (await context.target.tip(repo_path, lower.workspace.branch, { signal })) === base_commit
}
