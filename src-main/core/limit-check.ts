import type { ReachedLimit } from '../domain/task/limits.ts'
import type { AgentRecord, Queries, TaskRecord } from '../ports/store.ts'

/** Says whether an agent may begin a run. */
export interface LimitCheck {
  /** Returns the limit beyond which the next run of a task would begin. */
  reached(q: Queries, task: TaskRecord, agent: AgentRecord | null): ReachedLimit | null
}
