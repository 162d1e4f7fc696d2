import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { DiffStat } from '../../src-shared/contract/tasks.ts'
import type { Ground } from '../core/ground.ts'
import type { WorktreeWatch } from '../ports/diff-reader.ts'
import { WorkspaceError } from '../ports/workspace-error.ts'
import { toTask } from '../core/views.ts'
import { workspaceOf } from '../core/workspace-of.ts'
import type { Worktrees } from '../workspaces/worktrees.ts'

/** Emits the diff sizes of branches on which agents run. */
export interface DiffStatTracker {
  /**
   * Measures a task's branch when its files have changed, until the returned function is called; that one resolves when
   * no measurement is running and never rejects.
   */
  follow(task_id: TaskId, onFileChange?: () => void): () => Promise<void>
}

type Parts = Pick<Ground, 'places' | 'store' | 'feed' | 'clock' | 'log'>

/**
 * An agent may write files without a pause, so a branch is measured at most this often. A shorter run is not
 * measured.
 */
const usualPauseMs = 3_000
/** The largest share of the time spent measuring a repository that is slow to measure. */
const mostShare = 0.05

/** Creates the tracker. It measures one branch at a time, and only after its files have changed. */
export function createDiffStatTracker(
  parts: Parts,
  worktrees: Pick<Worktrees, 'ref'>,
  pauseMs: number = usualPauseMs,
): DiffStatTracker {
  const { places, store, clock, log } = parts
  let turn: Promise<void> = Promise.resolve()

  async function measure(task_id: TaskId, signal: AbortSignal): Promise<void> {
    const task = store.read.tasks.get(task_id)
    const workspace = task && workspaceOf(store.read, task)
    if (!workspace || signal.aborted) return
    try {
      const size = await places.of(workspace.task_id).diffs.diffStat(await worktrees.ref(workspace), { signal })
      if (!signal.aborted) write(parts, task_id, size)
    } catch (error) {
      if (signal.aborted) return
      // The end of the run measures again, so an outdated number is not worth an error.
      if (!(error instanceof WorkspaceError)) log.error({ err: error, task_id }, 'a branch could not be measured')
    }
  }
  return {
    follow: (task_id, onFileChange) => {
      const task = store.read.tasks.get(task_id)
      const workspace = task && workspaceOf(store.read, task)
      if (!workspace) return async () => undefined
      const stop = new AbortController()
      let pause = pauseMs
      let watch: Promise<WorktreeWatch | null> = Promise.resolve(null)
      let busy: Promise<void> = Promise.resolve()
      let timer: NodeJS.Timeout | undefined

      const inTurn = async () => {
        if (stop.signal.aborted) return
        const since = clock.now()
        busy = measure(task_id, stop.signal)
        await busy
        pause = Math.max(pauseMs, (clock.now() - since) / mostShare)
      }
      const later = (): NodeJS.Timeout =>
        setTimeout(() => {
          timer = undefined
          turn = turn.then(inTurn)
        }, pause)
      const begin = () => {
        const onChange = () => {
          if (stop.signal.aborted) return
          onFileChange?.()
          timer ??= later()
        }
        watch = places
          .of(workspace.task_id)
          .diffs.watch(workspace.path, { onChange, onEnd: () => undefined })
          .catch((error: unknown) => {
            if (!(error instanceof WorkspaceError)) log.error({ err: error, task_id }, 'a worktree is not watched')
            return null
          })
        turn = turn.then(inTurn)
      }
      const first = setTimeout(begin, pauseMs)
      return async () => {
        stop.abort()
        clearTimeout(first)
        clearTimeout(timer)
        // The end of the run must be saved even if the watch fails.
        await watch
          .then((opened) => opened?.close())
          .catch((error: unknown) => log.warn({ err: error, task_id }, 'a worktree is no longer watched'))
        await busy
      }
    },
  }
}

function write({ feed }: Parts, task_id: TaskId, diff_stat: DiffStat): void {
  feed.commit((tx) => {
    const current = tx.tasks.get(task_id)
    if (!current || isSame(current.diff_stat, diff_stat)) return
    // `updated_at` stays: otherwise lists sorted by it would be reordered with every few lines that an agent writes.
    const updated = { ...current, diff_stat }
    tx.tasks.put(updated)
    tx.emit('task.updated', { project_id: current.project_id, task_id, task: toTask(tx, updated) })
  })
}

const isSame = (one: DiffStat | null, other: DiffStat): boolean =>
  one?.files === other.files && one.additions === other.additions && one.deletions === other.deletions
