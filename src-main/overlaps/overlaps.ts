import type { ProjectId, TaskId } from '../../src-shared/contract/ids.ts'
import type { Overlap } from '../../src-shared/contract/overlaps.ts'
import type { Ground } from '../core/ground.ts'
import { toTask } from '../core/views.ts'
import { pause } from '../core/pause.ts'
import type { WorktreeWatch } from '../ports/diff-reader.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { OverlapReader } from '../ports/overlap-reader.ts'
import type { WorkspaceRecord } from '../ports/workspace-queries.ts'
import { WorkspaceError } from '../ports/workspace-error.ts'
import type { Transitions } from '../transitions/transitions.ts'
import { createOverlapMessages } from './tell-agents.ts'

/** Finds the live worktrees that would conflict, and says so. */
export interface Overlaps {
  start(): void
  /** Looks which tasks have a live worktree now; called after whatever may have changed that. */
  look(): void
  close(): Promise<void>
}

/** A new worktree is watched only then: until its agent has started, git and the disk are needed for that. */
const lookAfterMs = 300
/** Several changes that come together are read once. */
const gatherMs = 200
/** A group that changes without a pause is read at most half of the time. */
const maxPauseMs = 1_000

interface Watched {
  readonly task_id: TaskId
  readonly path: string
  readonly group: Group
  /** What changed since the last reading; null for anything. */
  changed: Set<string> | null
  watch: Promise<WorktreeWatch | null>
}

/** The worktrees of a project that start from one branch of one repository. */
interface Group {
  readonly key: string
  readonly project_id: ProjectId
  readonly repo_path: string
  readonly base_branch: string
  readonly worktrees: Map<TaskId, Watched>
  items: readonly Overlap[]
  isDirty: boolean
  reading: Promise<void> | null
}

type Live = { readonly workspace: WorkspaceRecord; readonly task: TaskRecord }

export function createOverlaps(
  context: Ground & { readonly overlaps: OverlapReader },
  transitions: Pick<Transitions, 'workflowOf'>,
  /** Files of a task's worktree have changed. */
  onChange: (task_id: TaskId) => void,
): Overlaps {
  const { places, overlaps, store, log } = context
  const { read } = store
  const groups = new Map<string, Group>()
  const watched = new Map<TaskId, Watched>()
  /** What was found last in each project: an older finding that could not be written yet is dropped. */
  const latest = new Map<ProjectId, readonly Overlap[]>()
  const closing = new AbortController()
  const ending = new Set<Promise<void>>()
  const messages = createOverlapMessages(context)
  let isStarted = false
  let looking: NodeJS.Timeout | null = null

  const end = (one: Watched) => {
    if (watched.get(one.task_id) !== one) return
    watched.delete(one.task_id)
    one.group.worktrees.delete(one.task_id)
    const ended = one.watch
      .then((watch) => watch?.close())
      .catch((error: unknown) => log.warn({ err: error, path: one.path }, 'a worktree is no longer watched'))
      .finally(() => ending.delete(ended))
    ending.add(ended)
    touch(one.group)
  }
  const begin = ({ workspace, task }: Live) => {
    const { path, repo_path, base_branch } = workspace
    const key = JSON.stringify([task.project_id, repo_path, base_branch])
    const group: Group = groups.get(key) ?? {
      key,
      project_id: task.project_id,
      repo_path,
      base_branch,
      worktrees: new Map(),
      items: [],
      isDirty: false,
      reading: null,
    }
    groups.set(key, group)
    const onPaths = (paths: readonly string[] | null) => {
      onChange(task.id)
      if (paths === null) one.changed = null
      else for (const name of paths) one.changed?.add(name)
      touch(group)
    }
    const watch = places
      .of(task.id)
      .diffs.watch(path, { onChange: onPaths, onEnd: () => end(one) })
      .catch((error: unknown) => {
        if (!(error instanceof WorkspaceError)) log.error({ err: error, path }, 'a worktree is not watched')
        // The next look tries again.
        queueMicrotask(() => end(one))
        return null
      })
    const one: Watched = { task_id: task.id, path, group, changed: null, watch }
    watched.set(task.id, one)
    group.worktrees.set(task.id, one)
    touch(group)
  }
  const touch = (group: Group) => {
    group.isDirty = true
    if (!isStarted || closing.signal.aborted) return
    group.reading ??= readAgain(group)
      .catch((error: unknown) => {
        if (!closing.signal.aborted) log.error({ err: error }, 'overlaps could not be read')
      })
      .finally(() => {
        group.reading = null
        if (group.isDirty && !closing.signal.aborted) touch(group)
      })
  }
  const readAgain = async (group: Group): Promise<void> => {
    while (group.isDirty && !closing.signal.aborted) {
      await pause(gatherMs, [closing.signal])
      if (closing.signal.aborted) return
      const since = performance.now()
      group.isDirty = false
      await readGroup(group)
      const took = performance.now() - since
      await pause(Math.min(maxPauseMs, took), [closing.signal])
    }
  }
  const readGroup = async (group: Group): Promise<void> => {
    const all = [...group.worktrees.values()]
    // From here on each change counts for the next reading: the watches are open before anything is read.
    await Promise.all(all.map(({ watch }) => watch))
    const present = all.filter((one) => watched.get(one.task_id) === one)
    const taken = present.map((one) => ({ one, changed: one.changed }))
    for (const { one } of taken) one.changed = new Set()
    if (present.length < 2) {
      for (const { one, changed } of taken) one.changed = merged(changed, one.changed)
      publish(group, [])
      await overlaps.forgetOverlaps(group.key)
      if (group.worktrees.size === 0 && !group.isDirty) groups.delete(group.key)
      return
    }
    const worktrees = taken.map(({ one: { task_id, path }, changed }) => ({
      task_id,
      path,
      changed: changed && [...changed],
    }))
    const { key, repo_path, base_branch } = group
    try {
      const isCompared = (one: TaskId, other: TaskId) => !areStacked(read.tasks.get(one), read.tasks.get(other))
      const found = await overlaps.readOverlaps(
        { group: key, repo_path, base_branch, worktrees, isCompared },
        { signal: closing.signal },
      )
      publish(
        group,
        found.map(({ a, b, files, kind }) => ({ a, b, files: [...files], kind })),
      )
    } catch (error) {
      for (const { one } of taken) one.changed = null
      if (closing.signal.aborted || !(error instanceof WorkspaceError)) throw error
      log.warn({ err: error, repo_path }, 'overlaps could not be read; the next change tries again')
    }
  }
  const publish = (group: Group, items: readonly Overlap[]) => {
    if (JSON.stringify(items) !== JSON.stringify(group.items)) {
      group.items = items
      const { project_id } = group
      const ofProject = [...groups.values()].filter((one) => one.project_id === project_id)
      const current = ofProject.flatMap((one) => one.items).toSorted(inOrder)
      latest.set(project_id, current)
      save(context, project_id, current, () => latest.get(project_id) === current)
    }
    messages.tell(group.project_id)
  }
  const look = () => {
    looking = null
    const live = read.workspaces.present().filter(({ task }) => isLive(task))
    const byTask = new Map(live.map((one) => [one.task.id, one]))
    for (const one of [...watched.values()]) {
      const now = byTask.get(one.task_id)
      const isSame = now?.workspace.path === one.path && now.workspace.base_branch === one.group.base_branch
      if (!isSame) end(one)
    }
    for (const one of live) if (!watched.has(one.task.id)) begin(one)
    messages.tellAll()
  }
  const isLive = (task: TaskRecord): boolean =>
    read.projects.get(task.project_id) !== null &&
    transitions.workflowOf(read, task).states.get(task.status)?.kind !== 'terminal'
  return {
    start: () => {
      isStarted = true
      look()
      messages.seed([...watched.keys()])
    },
    look: () => {
      if (!isStarted || closing.signal.aborted) return
      looking ??= setTimeout(look, lookAfterMs)
    },
    close: async () => {
      closing.abort(new Error('The service is stopping.'))
      if (looking) clearTimeout(looking)
      await Promise.all([...groups.values()].flatMap(({ reading }) => reading ?? []))
      for (const one of [...watched.values()]) end(one)
      await Promise.all(ending)
      for (const { key } of groups.values()) await overlaps.forgetOverlaps(key)
    },
  }
}

const inOrder = (one: Overlap, other: Overlap): number => (`${one.a} ${one.b}` < `${other.a} ${other.b}` ? -1 : 1)

function merged(one: Set<string> | null, other: Set<string> | null): Set<string> | null {
  return one && other && new Set([...one, ...other])
}

/** The branch of one of the tasks lies on that of the other, so they are meant to change the same places. */
function areStacked(one: Stackable | null, other: Stackable | null): boolean {
  if (!one || !other) return false
  return one.stacked_on === other.id || other.stacked_on === one.id
}

interface Stackable {
  readonly id: TaskId
  readonly stacked_on?: TaskId | null
}

/** Keeps what was found and tells of it, with each task whose own conflicts are others now. */
function save(context: Ground, project_id: ProjectId, items: readonly Overlap[], isLatest: () => boolean): void {
  const { overlaps } = context.store.read
  const ids = [...new Set([...overlaps.ofProject(project_id), ...items].flatMap(({ a, b }) => [a, b]))]
  const before = new Map(ids.map((id) => [id, overlaps.conflictsOf(id).join()]))
  // Nothing waits for this: while the database takes no writes, it is tried again.
  const write = () =>
    context.feed.commit((tx) => {
      if (!isLatest()) return
      if (!tx.projects.get(project_id)) return tx.overlaps.replace(project_id, [])
      tx.overlaps.replace(project_id, items)
      tx.emit('overlaps.updated', { project_id, items: [...items] })
      for (const id of ids) {
        const task = tx.tasks.get(id)
        if (task && before.get(id) !== tx.overlaps.conflictsOf(id).join())
          tx.emit('task.updated', { project_id, task_id: id, task: toTask(tx, task) })
      }
    })
  context.writes.untilWritten(write).catch((error: unknown) => {
    context.log.warn({ err: error, project_id }, 'overlaps could not be told')
  })
}
