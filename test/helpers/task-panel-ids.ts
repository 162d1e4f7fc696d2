import type { Execution } from '../../src-shared/contract/executions.ts'
import type { Agent, Project } from '../../src-shared/contract/projects.ts'
import type { Task } from '../../src-shared/contract/tasks.ts'

/** A time before `now`, in the wire's format. */
export const ago = (minutes: number, now: number) => new Date(now - minutes * 60_000).toISOString()
/** A well-formed ID that names its kind. */
export const id = <T>(n: number) => `019b0000-0000-7000-8000-0000${String(n).padStart(8, '0')}` as T

export const ids = {
  project: id<Project['id']>(1),
  repo: id<Task['repo_id']>(2),
  agent: id<Agent['id']>(3),
  task: id<Task['id']>(40),
  running: id<Execution['id']>(51),
  earlier: id<Execution['id']>(50),
  long: id<Execution['id']>(49),
}
