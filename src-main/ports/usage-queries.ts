import type { AgentId, ProjectId, TaskId } from '../../src-shared/contract/ids.ts'
import type { ProjectUsage, UsageSum } from '../../src-shared/contract/queue.ts'

/** Usage that agents have reported. */
export interface UsageQueries {
  ofTask(task_id: TaskId): UsageSum
  ofProject(project_id: ProjectId): ProjectUsage
  /** Returns how many of an agent's runs in a project reported usage, and how many of them their cost and requests. */
  ofAgent(
    project_id: ProjectId,
    agent_id: AgentId,
  ): { readonly executions: number; readonly costs: number; readonly turns: number }
  /** Returns the usage of a scope since a time. A run counts for the day of its start. */
  spent(scope: SpentScope, now: string): SpentSum
}

export type SpentScope =
  | { readonly task_id: TaskId }
  | { readonly project_id: ProjectId; readonly since: string }
  | { readonly agent_id: AgentId; readonly since: string }

export interface SpentSum {
  readonly executions: number
  readonly usd: number | null
  readonly minutes: number
  /** Number of ended runs without a reported cost, or with one that is incomplete. */
  readonly unknown: number
}
