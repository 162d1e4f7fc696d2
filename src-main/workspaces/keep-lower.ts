import type { Ground } from '../core/ground.ts'
import { lowerTask } from '../core/stack-of.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { commitMessage, keepMessage } from './commit-message.ts'
import type { Worktrees } from './worktrees.ts'

interface Keeping {
  readonly context: Ground
  readonly worktrees: Pick<Worktrees, 'ref'>
}

/** Commits the submitted work of a task that others are stacked on, and of the one below a task, so both can begin there. */
export async function keepStackedWork(deps: Keeping, task: TaskRecord, signal: AbortSignal): Promise<void> {
  const { read } = deps.context.store
  const project = read.projects.get(task.project_id)
  if (!project) return
  const workflow = deps.context.workflows.of(project.workflow_definition)
  const lower = lowerTask(read, workflow, task)
  if (lower?.phase === 'submitted') await keepWork(deps, lower.task, signal)
  const upper = read.tasks.stackedOn(task.id)[0]
  const isSubmitted = upper !== undefined && lowerTask(read, workflow, { id: upper, stacked_on: task.id })?.phase
  if (isSubmitted === 'submitted') await keepWork(deps, task, signal)
}

async function keepWork({ context, worktrees }: Keeping, task: TaskRecord, signal: AbortSignal): Promise<void> {
  const { places, store } = context
  const workspace = store.read.workspaces.byTask(task.id)
  if (workspace === null || workspace.base_commit === null) return
  const ref = await worktrees.ref(workspace)
  const place = places.of(task.id).work
  const work = ref.path === null ? null : await place.work(ref, { signal })
  if (work) await place.commitWork(ref, work, commitMessage(task, keepMessage), { signal })
}
