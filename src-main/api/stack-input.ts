import { ApiError, type Refusal } from '../../src-shared/contract/errors.ts'
import type { TaskId } from '../../src-shared/contract/ids.ts'
import { crossProjectDependency, cycleThrough, type DependencyPair } from '../tasks/rules/dependency-cycle.ts'
import { invalidInput } from '../domain/refusal.ts'
import type { Queries } from '../ports/store.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { findTask } from './find.ts'

/** Throws where a task can't be stacked on another, or no longer on the one that it is stacked on. */
export function checkStackedOn(
  q: Queries,
  task: Pick<TaskRecord, 'id' | 'project_id' | 'repo_id' | 'subtask_mode' | 'stacked_on'>,
): void {
  const uppers = q.tasks.stackedOn(task.id).flatMap((id) => q.tasks.get(id) ?? [])
  if (uppers.some(({ repo_id }) => repo_id !== task.repo_id)) throw new ApiError(otherRepository)
  if (task.stacked_on === null) return
  const lower = findTask(q, task.stacked_on)
  if (lower.project_id !== task.project_id) throw new ApiError(crossProjectDependency(task.project_id))
  if (lower.repo_id !== task.repo_id) throw new ApiError(otherRepository)
  if (task.subtask_mode === 'ordered' || lower.subtask_mode === 'ordered') {
    const message = "An ordered subtask works on its parent's branch. Stack the parent instead."
    throw new ApiError(invalidInput('stacked_on', message))
  }
  const path = cycleThrough({ task_id: task.id, depends_on_id: lower.id }, waitingPairs(q, task))
  if (path) throw new ApiError(cycleRefusal(q, path))
}

const otherRepository: Refusal = {
  code: 'cross_project_dependency',
  message: 'A task can be stacked only on a task of its repository.',
}

/** Lists which tasks of a project wait for which, as dependencies or in stacks, but for what a task is stacked on now. */
export function waitingPairs(
  q: Queries,
  { id, project_id }: Pick<TaskRecord, 'id' | 'project_id'>,
): readonly DependencyPair[] {
  const stacked = q.tasks.stacked().flatMap((task_id) => {
    const task = q.tasks.get(task_id)
    const isOther = task !== null && task.id !== id && task.project_id === project_id
    return isOther && task.stacked_on !== null ? [{ task_id, depends_on_id: task.stacked_on }] : []
  })
  return [...q.dependencies.byProject(project_id), ...stacked]
}

/** Returns the refusal for tasks that would wait for each other. */
export function cycleRefusal(q: Pick<Queries, 'tasks'>, path: readonly TaskId[]): Refusal {
  const titles = path.map((id) => `“${q.tasks.get(id)?.title ?? id}”`)
  return {
    code: 'dependency_cycle',
    message: `These tasks would wait for each other: ${titles.join(' → ')}. Remove one of these dependencies first.`,
    details: { path },
  }
}
