import type { Task } from '../../src-shared/contract/tasks.ts'
import { findTasks, whyNotAfter } from '../model/chains.ts'
import { isDoneState, stateOf } from '../model/workflow-shape.ts'
import { useProjects } from './project/projects.ts'
import { useTasks } from './tasks/tasks.ts'

/** The dependencies that a person can add between tasks. */
export function useChains() {
  const projects = useProjects()
  const tasks = useTasks()
  const isOver = (task: Task): boolean => stateOf(projects.workflow(task.project_id), task.status)?.kind === 'terminal'
  const refusal = (first: Task, next: Task): string | null => whyNotAfter(first, next, tasks.byId, isOver)
  return {
    isOver,
    refusal,
    /** Returns the known unfinished dependencies of a task that isn't over. */
    waitsFor: (task: Task): readonly Task[] =>
      isOver(task)
        ? []
        : task.dependencies
            .flatMap((id) => tasks.byId.get(id) ?? [])
            .filter((other) => !isDoneState(projects.workflow(other.project_id), other.status)),
    /** Returns the tasks that can come before or after the given one, best match first. */
    before: (next: Task, query: string) =>
      findTasks(tasks.byId.values(), query).filter((first) => refusal(first, next) === null),
    after: (first: Task, query: string) =>
      findTasks(tasks.byId.values(), query).filter((next) => refusal(first, next) === null),
  }
}
