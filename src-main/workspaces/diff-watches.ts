import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { Ground } from '../core/ground.ts'
import type { WorktreeWatch } from '../ports/diff-reader.ts'
import type { Place } from '../ports/place.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { WorkspaceRecord } from '../ports/workspace-queries.ts'
import type { Worktrees } from './worktrees.ts'

/** How long a watch lasts without renewal: viewers renew theirs, and one that closes simply stops. */
const usualLeaseMs = 60_000

/** Watches the worktrees whose changes are open in a client, and no others. */
export interface DiffWatchers {
  /** Starts or renews the watch of a task's changes; see the operation `tasks.watch_diff`. */
  extend(task: TaskRecord): Promise<{ readonly until: string | null; readonly since: string | null }>
  /** Resolves when all watches have ended. */
  close(): Promise<void>
}

interface Watched {
  /** The viewing tasks: ordered subtasks share their parent's worktree. */
  readonly viewers: Map<TaskId, { readonly task: TaskRecord; readonly timer: NodeJS.Timeout }>
  readonly watch: Promise<WorktreeWatch>
  /** The time since which no change was missed. */
  readonly since: Promise<string>
}

type Parts = Pick<Ground, 'places' | 'feed' | 'clock' | 'log'>

export function createDiffWatches(
  parts: Parts,
  worktrees: Pick<Worktrees, 'of'>,
  leaseMs: number = usualLeaseMs,
): DiffWatchers {
  const { places, feed, clock, log } = parts
  const byPath = new Map<string, Watched>()
  const ending = new Set<Promise<void>>()
  let closed = false
  const iso = (more = 0) => new Date(clock.now() + more).toISOString()

  const end = (path: string, watched: Watched) => {
    if (byPath.get(path) !== watched) return
    byPath.delete(path)
    for (const { timer } of watched.viewers.values()) clearTimeout(timer)
    const done = watched.watch
      .then((watch) => watch.close())
      .catch((error: unknown) => {
        log.warn({ err: error, path }, 'a worktree is no longer watched')
      })
      .finally(() => ending.delete(done))
    ending.add(done)
  }
  const start = ({ diffs }: Place, path: string): Watched => {
    const tell = () => {
      for (const { task } of watched.viewers.values()) feed.worktree({ project_id: task.project_id, task_id: task.id })
    }
    const onEnd = () => {
      tell()
      end(path, watched)
    }
    const watch = diffs.watch(path, { onChange: tell, onEnd })
    const watched: Watched = { viewers: new Map(), watch, since: watch.then(() => iso()) }
    // Prevents an unhandled rejection; all callers of `watch` wait for the promise.
    watched.since.catch(() => undefined)
    byPath.set(path, watched)
    return watched
  }
  const look = (path: string, watched: Watched, task: TaskRecord) => {
    clearTimeout(watched.viewers.get(task.id)?.timer)
    const timer = setTimeout(() => {
      watched.viewers.delete(task.id)
      if (watched.viewers.size === 0) end(path, watched)
    }, leaseMs)
    // The timer only ends a watch, so it must not keep the process alive.
    timer.unref()
    watched.viewers.set(task.id, { task, timer })
  }
  return {
    extend: async (task) => {
      const workspace = worktrees.of(task)
      const nothing = { until: null, since: null }
      if (closed || !workspace || !isThere(workspace)) return nothing
      const { path, task_id } = workspace
      const place = places.of(task_id)
      if (!(await place.worktrees.exists(path)) || closed) return nothing
      const watched = byPath.get(path) ?? start(place, path)
      look(path, watched, task)
      try {
        return { since: await watched.since, until: iso(leaseMs) }
      } catch (error) {
        end(path, watched)
        if (await place.worktrees.exists(path)) throw error
        return nothing
      }
    },
    close: async () => {
      closed = true
      for (const [path, watched] of byPath) end(path, watched)
      await Promise.all(ending)
    },
  }
}

const isThere = ({ status }: WorkspaceRecord): boolean => status !== 'cleaned' && status !== 'creating'
