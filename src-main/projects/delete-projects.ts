import type { ProjectId } from '../../src-shared/contract/ids.ts'
import { cancelPendingWork, type CancelServices } from '../tasks/move-task.ts'
import type { Ground } from '../core/ground.ts'
import type { ProjectDeletion } from '../ports/project-queries.ts'
import { pause } from '../core/pause.ts'
import { forgetLogs } from '../core/forget-logs.ts'

/** Deletes projects: hidden at once, while their rows are removed in small steps that continue after a crash. */
export interface ProjectDeletions {
  /** Marks the project as deleted, emits that, and starts to remove its data. */
  delete(project_id: ProjectId, deletion: ProjectDeletion): void
  /** Continues deletions that an earlier service left unfinished. */
  start(): void
  /** Resolves when the current step has ended; the next start does the rest. */
  close(): Promise<void>
}

/** How long a step may block all other work. */
const stepMs = 4
const maxStep = 50
/** Write time between two checkpoints. */
const checkpointMs = 200

export function createProjectDeletions(deps: CancelServices): ProjectDeletions {
  const { context } = deps
  const { read } = context.store
  const closing = new AbortController()
  const { signal } = closing
  let running = Promise.resolve()
  const enqueue = (project_id: ProjectId, deletion: ProjectDeletion) => {
    // Pending work of this project is cancelled at once, although its rows wait for earlier deletions.
    const abandoned = abandonAll(deps, project_id)
    running = Promise.all([running, abandoned])
      .then(() => (signal.aborted ? undefined : removeProject(context, project_id, deletion, signal)))
      .catch((error: unknown) => {
        if (!signal.aborted) context.log.error({ err: error, project_id }, 'a deleted project could not be removed')
      })
  }
  return {
    delete: (project_id, deletion) => {
      context.feed.commit((tx) => {
        tx.projects.markDeleted(project_id, deletion)
        tx.emit('project.updated', { project_id, project: null })
      })
      enqueue(project_id, deletion)
    },
    start: () => {
      for (const { id, deletion } of read.projects.deleted()) enqueue(id, deletion)
    },
    close: async () => {
      closing.abort()
      await running
    },
  }
}

async function removeProject(
  context: Ground,
  project_id: ProjectId,
  { delete_branches }: ProjectDeletion,
  signal: AbortSignal,
): Promise<void> {
  if (delete_branches) await removeWorktrees(context, project_id, signal)
  await removeRows(context, project_id, signal)
}

/** Cancels the pending work of a project's tasks and waits until the cancellation is saved. */
async function abandonAll(deps: CancelServices, project_id: ProjectId): Promise<void> {
  const { read } = deps.context.store
  const pending = new Set([...read.effects.pendingTasks(), ...read.pendingHooks.pendingTasks()])
  const ofProject = [...pending].filter((id) => read.tasks.get(id)?.project_id === project_id)
  await Promise.all(
    ofProject.map((task_id) => deps.context.writes.untilWritten(() => cancelPendingWork(deps, task_id))),
  )
}

/** Removes the project's worktrees. One that can't be removed becomes an orphan; the project is deleted anyway. */
async function removeWorktrees(context: Ground, project_id: ProjectId, signal: AbortSignal): Promise<void> {
  for (const workspace of context.store.read.workspaces.byProject(project_id)) {
    if (signal.aborted) return
    const { repo_path, path, task_id, branch } = workspace
    try {
      await context.places
        .of(task_id)
        .worktrees.remove({ repo_path, path, task_id, branch, delete_branch: true }, { signal })
    } catch (error) {
      if (signal.aborted) return
      context.log.warn({ err: error, task_id }, 'the worktree of a deleted project could not be removed')
    }
  }
}

async function removeRows(context: Ground, project_id: ProjectId, signal: AbortSignal): Promise<void> {
  const { read } = context.store
  let step = 10
  let sinceCheckpoint = 0
  for (let left = true; left && !signal.aborted;) {
    const ids = read.tasks.someIds(project_id, step)
    await forgetLogs(context, ids)
    const began = performance.now()
    left = await context.writes.untilWritten(
      () => context.feed.commit((tx) => tx.projects.deleteRows(project_id, ids, step)),
      signal,
    )
    const took = performance.now() - began
    step = Math.min(maxStep, Math.max(1, Math.round((step * stepMs) / Math.max(took, 1))))
    sinceCheckpoint += took
    if (sinceCheckpoint > checkpointMs) {
      sinceCheckpoint = 0
      await context.store.checkpoint()
      continue
    }
    // Pauses as long as the step took, which leaves half of the time to other work.
    await pause(Math.min(took, 100), [signal])
  }
}
