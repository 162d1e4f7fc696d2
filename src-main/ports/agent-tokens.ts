import type { AgentId, ExecutionId, ProjectId, TaskId } from '../../src-shared/contract/ids.ts'

export interface AgentTokens {
  /** Creates a token for this execution alone, valid until `revoke`. */
  mint(bound: {
    readonly agent_id: AgentId
    readonly project_id: ProjectId
    readonly task_id: TaskId
    readonly execution_id: ExecutionId
  }): string
  revoke(execution_id: ExecutionId): void
}
