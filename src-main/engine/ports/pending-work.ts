import type { ProjectId, TaskId } from '../../../src-shared/contract/ids.ts'
import type { Effect } from '../../domain/transition/effects.ts'
import type { Occasion } from '../../domain/transition/occasion.ts'

/** A step of a transition that is still to be done. */
export interface EffectRecord {
  readonly id: number
  readonly task_id: TaskId
  readonly data: Effect
}

/** What the workflow is still to be told of. */
export interface OccasionRecord {
  readonly id: number
  readonly task_id: TaskId
  readonly data: Occasion
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
  add(task_id: TaskId, data: Occasion): void
  update(id: number, data: Occasion): void
  remove(id: number): void
  get(id: number): OccasionRecord | null
  /** Oldest first. */
  ofTask(task_id: TaskId): readonly OccasionRecord[]
  pendingTasks(): readonly TaskId[]
}
