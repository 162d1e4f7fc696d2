import type { TaskId } from '../../../src-shared/contract/ids.ts'
import type { JobFinish } from '../../../src-shared/contract/jobs.ts'
import type { Logger } from '../../platform/logging/log.ts'
import { createKeyedLock } from '../../platform/locks/keyed-lock.ts'
import type { Arrivals, LentState } from '../../ports/arrivals.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import type { Place } from '../../ports/place.ts'
import { rescueLate } from './late-work.ts'

/** The task's worktree as its records have it. */
export interface TaskWorktree {
  readonly task_id: TaskId
  readonly repo_path: string
  readonly path: string
  readonly branch: string
  readonly base_commit: string
  readonly ports: readonly number[]
}

/** Keeps the worktree here as the one on a runner, so that all that reads or changes work finds it as ever. */
export interface Mirror {
  /** Lets a job fetch what a folder has. */
  lend(
    worktree: TaskWorktree,
    loan: { readonly name: string; readonly folder: string },
    options: Cancellable,
  ): Promise<LentState>
  takeBack(task_id: TaskId, name: string): Promise<void>
  /** Removes what was lent of a folder that belongs to no task. */
  discard(task_id: TaskId): Promise<void>
  /** Brings the worktree to what arrives, until it is told to stop; `now`: also to what has arrived before. */
  follow(worktree: TaskWorktree, options?: { readonly now: boolean }): { stop(): Promise<void> }
  /** Brings the worktree to what has arrived, and notes what stays there; returns which of these refs have not. */
  takeOver(
    worktree: TaskWorktree,
    work: Pick<JobFinish, 'refs' | 'left_there'>,
    options: Cancellable,
  ): Promise<readonly string[]>
}

export interface MirrorParts {
  readonly arrivals: Arrivals
  readonly here: Pick<Place, 'worktrees'>
  readonly log: Logger
}

export function createMirror({ arrivals, here, log }: MirrorParts): Mirror {
  const locks = createKeyedLock()
  const bring = async ({ task_id, path }: TaskWorktree, { signal }: Cancellable): Promise<void> => {
    const arrived = await arrivals.read(task_id, { signal })
    if (arrived?.at == null || arrived.branch === null) return
    const head = await here.worktrees.head(path, { signal })
    const move = { commit: arrived.branch, from: head }
    if ((await arrivals.takeBranch(task_id, move, { signal })) === 'moved') {
      log.warn({ task_id, ...move }, 'work that arrived was not taken: the branch has moved here')
      return
    }
    await arrivals.bring(task_id, path, { head: arrived.branch, snapshot: arrived.snapshot }, { signal })
    await rescueLate(arrivals, task_id, arrived, { signal })
  }
  const inTurn = <T>({ path }: TaskWorktree, work: () => Promise<T>): Promise<T> => locks.run(path, work)
  return {
    lend: (worktree, loan, { signal }) =>
      inTurn(worktree, async () => {
        const { task_id, repo_path, branch, base_commit, path } = worktree
        const branch_head = loan.folder === path ? await here.worktrees.head(path, { signal }) : null
        await arrivals.open(task_id, { repo_path, branch, base_commit, branch_head }, { signal })
        return await arrivals.lend(task_id, loan, { signal })
      }),
    takeBack: (task_id, name) => arrivals.takeBack(task_id, name, { signal: AbortSignal.timeout(60_000) }),
    discard: (task_id) => arrivals.remove(task_id),
    follow: (worktree, { now } = { now: false }) => {
      const end = new AbortController()
      let due = false
      let working: Promise<void> = Promise.resolve()
      const work = async (): Promise<void> => {
        due = false
        if (end.signal.aborted) return
        await inTurn(worktree, () => bring(worktree, { signal: end.signal })).catch((error: unknown) => {
          if (!end.signal.aborted)
            log.warn({ err: error, task_id: worktree.task_id }, 'work that arrived could not be shown')
        })
      }
      const look = (): void => {
        if (due) return
        due = true
        working = working.then(work)
      }
      const stop = arrivals.onArrival(worktree.task_id, look)
      if (now) look()
      return {
        stop: async () => {
          stop()
          end.abort()
          await working
        },
      }
    },
    takeOver: (worktree, { refs, left_there }, { signal }) =>
      inTurn(worktree, async () => {
        await arrivals.settle(worktree.task_id)
        const arrived = await arrivals.read(worktree.task_id, { signal })
        const there = new Map([
          [`refs/heads/${worktree.branch}`, arrived?.branch ?? ''],
          ['refs/svc/live/snapshot', arrived?.snapshot ?? ''],
          ...(arrived?.others ?? []).map(({ name, commit }) => [`refs/svc/live/${name}`, commit] as const),
        ])
        const missing = Object.entries(refs).filter(([ref, commit]) => there.get(ref) !== commit)
        if (missing.length === 0) {
          await bring(worktree, { signal })
          await arrivals.noteLeft(worktree.task_id, left_there)
        }
        return missing.map(([ref]) => ref)
      }),
  }
}
