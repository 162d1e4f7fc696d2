import type { ReachedLimit } from '../executions/rules/limits.ts'
import type { AgentRecord } from '../ports/agent-queries.ts'
import type { Queries } from '../ports/store.ts'
import type { TaskRecord } from '../ports/task-queries.ts'

/** Checks whether an agent may start a run. */
export interface LimitCheck {
  /** Returns the limit that a task's next run would exceed, or null. */
  reached(q: Queries, task: TaskRecord, agent: AgentRecord | null): ReachedLimit | null
}
