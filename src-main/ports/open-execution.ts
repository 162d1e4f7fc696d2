import type { Execution } from '../../src-shared/contract/executions.ts'
import type { ProjectId } from '../../src-shared/contract/ids.ts'

/** As much of a queued or running execution as the queue asks for: no prompt, which may be large, is read for it. */
export type OpenExecution = Pick<Execution, 'id' | 'task_id' | 'role' | 'agent_id' | 'status' | 'created_at'> & {
  readonly project_id: ProjectId
  readonly dispatched: boolean
  /** It brings a person's message. */
  readonly is_message: boolean
}
