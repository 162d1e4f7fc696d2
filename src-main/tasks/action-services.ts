import type { AgentId, ExecutionId } from '../../src-shared/contract/ids.ts'
import type { Executions } from '../executions/executions.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { ReviewRecord } from '../ports/review-queries.ts'
import type { LandingResult } from '../../src-shared/contract/landing.ts'
import type { Landing } from '../landing/landing.ts'
import type { Cleanup } from '../workspaces/cleanup.ts'
import type { AttachmentGround } from './attachments.ts'
import type { ClaimDeps, Claims } from './claims.ts'

/** The caller of an action: its name in the audit and, for an agent, the agent and its execution. */
export interface Actor {
  readonly triggered_by: string
  readonly agent_id: AgentId | null
  readonly execution_id: ExecutionId | null
}

export interface Outcome {
  readonly task: TaskRecord
  readonly review: ReviewRecord | null
  /** For a move into a state that merges: how the landing ended. */
  readonly landing?: LandingResult
  /** The task's merge is still being tested. */
  readonly landing_deferred?: true
}

export interface ActionDeps extends ClaimDeps {
  readonly context: AttachmentGround
  readonly executions: Executions
  readonly landing: Landing
  readonly claims: Claims
  readonly cleanup: Cleanup
}
