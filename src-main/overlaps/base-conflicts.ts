import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { BaseConflict } from '../../src-shared/contract/overlaps.ts'
import { pause } from '../core/pause.ts'
import type { Ground } from '../core/ground.ts'
import { toSettings, toTask } from '../core/views.ts'
import { workspaceOwner } from '../core/workspace-of.ts'
import type { BaseConflictReader } from '../ports/base-conflict-reader.ts'
import type { MergeRequest } from '../ports/branch-ref.ts'
import { WorkspaceError } from '../ports/workspace-error.ts'
import type { Transitions } from '../transitions/transitions.ts'

/** Finds the tasks whose merge into their base would conflict now, and says so. */
export interface BaseConflicts {
  start(): void
  /** Looks which tasks have work of their own now; called after whatever may have changed that. */
  look(): void
  /** The files of a task's worktree have changed. */
  touch(task_id: TaskId): void
  close(): Promise<void>
}

/** How often the refs are read: no event tells of a commit or a fetch by hand. */
const pollMs = 2_000
/** Several changes that come together are read once. */
const gatherMs = 200

/** A task whose branch would be merged into its base. */
interface Candidate {
  readonly task_id: TaskId
  /** null where the worktree is gone. */
  readonly path: string | null
  readonly branch: string
  readonly base_branch: string
}

/** The candidates of one repository that are merged in the same way. */
interface Group {
  readonly repo_path: string
  readonly strategy: MergeRequest['strategy']
  readonly candidates: readonly Candidate[]
}

/** The commits that a task was compared at, with what came of it. */
interface Known {
  readonly stamp: string
  readonly found: BaseConflict | null
}

export function createBaseConflicts(
  context: Ground & { readonly baseConflicts: BaseConflictReader },
  transitions: Pick<Transitions, 'workflowOf'>,
): BaseConflicts {
  const { baseConflicts, log } = context
  const known = new Map<TaskId, Known>()
  /** Tasks whose worktrees have changed since they were read. */
  const touched = new Set<TaskId>()
  const closing = new AbortController()
  let looking = new AbortController()
  let groups: readonly Group[] | null = null
  let running: Promise<void> | null = null

  const run = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      try {
        await readAll()
      } catch (error) {
        if (!closing.signal.aborted) log.error({ err: error }, 'conflicts with the base could not be read')
      }
      if (!looking.signal.aborted) await pause(pollMs, [looking.signal, closing.signal])
      if (!looking.signal.aborted) continue
      await pause(gatherMs, [closing.signal])
      looking = new AbortController()
      groups = null
    }
  }
  const readAll = async (): Promise<void> => {
    groups ??= findGroups(context, transitions)
    const present = new Set(groups.flatMap(({ candidates }) => candidates.map(({ task_id }) => task_id)))
    for (const ids of [known, touched]) for (const id of ids.keys()) if (!present.has(id)) ids.delete(id)
    for (const group of groups) {
      try {
        await readGroup(group)
      } catch (error) {
        if (closing.signal.aborted || !(error instanceof WorkspaceError)) throw error
        // A repository that is gone for a while has no known conflicts until it is back.
        for (const { task_id } of group.candidates) known.delete(task_id)
        log.debug({ err: error, repo_path: group.repo_path }, 'conflicts with the base could not be read')
      }
      // Between two repositories, whatever waits for the event loop has its turn.
      await pause(0, [closing.signal])
      if (closing.signal.aborted) return
    }
    publish(context, known)
  }
  const readGroup = async ({ repo_path, strategy, candidates }: Group): Promise<void> => {
    const { signal } = closing
    const names = [...new Set(candidates.flatMap(({ branch, base_branch }) => [branch, base_branch]))]
    const tips = await baseConflicts.readTips(repo_path, names, { signal })
    const moved = candidates.flatMap(({ task_id, path, branch, base_branch }) => {
      const [head, base] = [tips.get(branch), tips.get(base_branch)]
      if (head === undefined || base === undefined) {
        known.delete(task_id)
        return []
      }
      const stamp = `${strategy} ${head} ${base}`
      const isChanged = touched.delete(task_id) || known.get(task_id)?.stamp !== stamp
      return !isChanged ? [] : [{ task_id, path, head, base, stamp }]
    })
    const found = await baseConflicts.readBaseConflicts(repo_path, strategy, moved, { signal })
    for (const [at, { task_id, base, stamp }] of moved.entries()) {
      const files = found[at] ?? []
      known.set(task_id, { stamp, found: files.length === 0 ? null : { commit: base, files: [...files] } })
    }
  }
  return {
    start: () => {
      running ??= run()
    },
    look: () => looking.abort(),
    // The next reading compares it again, so that a worktree that changes all the time is read no more often.
    touch: (task_id) => void touched.add(task_id),
    close: async () => {
      closing.abort(new Error('The service is stopping.'))
      await running
    },
  }
}

function findGroups(context: Ground, { workflowOf }: Pick<Transitions, 'workflowOf'>): readonly Group[] {
  const { read } = context.store
  const groups = new Map<string, Group & { readonly candidates: Candidate[] }>()
  for (const { workspace, task } of read.workspaces.withWork()) {
    const project = read.projects.get(task.project_id)
    const isOpen = workflowOf(read, task).states.get(task.status)?.kind !== 'terminal'
    if (!project || !isOpen || task.active_execution_id !== null || workspaceOwner(read, task).id !== task.id) continue
    const { repo_path, branch, base_branch, path, status } = workspace
    const strategy = toSettings(project).merge_strategy
    const key = JSON.stringify([repo_path, strategy])
    const group = groups.get(key) ?? { repo_path, strategy, candidates: [] }
    groups.set(key, group)
    group.candidates.push({ task_id: task.id, path: status === 'cleaned' ? null : path, branch, base_branch })
  }
  return [...groups.values()]
}

/** Keeps what was found, and tells of each task for which it is something else now. */
function publish(context: Ground, known: ReadonlyMap<TaskId, Known>): void {
  const { read } = context.store
  const ids = new Set([...read.base_conflicts.tasks(), ...known.keys()])
  const foundOf = (id: TaskId) => known.get(id)?.found ?? null
  const changed = [...ids].filter((id) => JSON.stringify(read.base_conflicts.of(id)) !== JSON.stringify(foundOf(id)))
  if (changed.length === 0) return
  // Nothing waits for this: while the database takes no writes, it is tried again.
  const write = () =>
    context.feed.commit((tx) => {
      for (const id of changed) {
        tx.base_conflicts.put(id, foundOf(id))
        const task = tx.tasks.get(id)
        if (task) tx.emit('task.updated', { project_id: task.project_id, task_id: id, task: toTask(tx, task) })
      }
    })
  context.writes.untilWritten(write).catch((error: unknown) => {
    context.log.warn({ err: error }, 'conflicts with the base could not be told')
  })
}
