import type { ProjectId, TaskId } from '../../src-shared/contract/ids.ts'
import type { Effect } from '../domain/transition/effects.ts'
import type { PendingHooks } from '../domain/transition/pending-hooks.ts'

/** Pending steps of a transition. */
export interface EffectRecord {
  readonly id: number
  readonly task_id: TaskId
  readonly data: Effect
}

/** Hooks of an event that are still to run. */
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

export interface PendingHookQueries {
  add(task_id: TaskId, data: PendingHooks): void
  update(id: number, data: PendingHooks): void
  remove(id: number): void
  get(id: number): PendingHooksRecord | null
  /** Oldest first. */
  ofTask(task_id: TaskId): readonly PendingHooksRecord[]
  pendingTasks(): readonly TaskId[]
}
