import type { ProjectId, TaskId } from '../../src-shared/contract/ids.ts'
import type { Effect } from '../domain/transition/effects.ts'
import type { PendingHooks } from '../domain/transition/pending-hooks.ts'

/** A step of a transition that is still to be done. */
export interface EffectRecord {
  readonly id: number
  readonly task_id: TaskId
  readonly data: Effect
}

/** What the workflow is still to be told of. */
export interface PendingHooksRecord {
  readonly id: number
  readonly task_id: TaskId
  readonly data: PendingHooks
}

export interface EffectQueries {
  add(task_id: TaskId, data: Effect): number
  update(id: number, data: Effect): void
  remove(id: number): void
  removeOfTask(task_id: TaskId): void
  first(task_id: TaskId): EffectRecord | null
  pendingTasks(): readonly TaskId[]
  ofProject(project_id: ProjectId): readonly EffectRecord[]
}

export interface OccasionQueries {
  add(task_id: TaskId, data: PendingHooks): void
  update(id: number, data: PendingHooks): void
  remove(id: number): void
  get(id: number): PendingHooksRecord | null
  /** Oldest first. */
  ofTask(task_id: TaskId): readonly PendingHooksRecord[]
  pendingTasks(): readonly TaskId[]
}
