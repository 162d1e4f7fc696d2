import type { HeldContainment } from '../../src-shared/contract/containment.ts'
import type { Execution, ExecutionOverrides } from '../../src-shared/contract/executions.ts'
import type { ExecutionId, ProjectId, RunnerId, TaskId } from '../../src-shared/contract/ids.ts'
import type { PromptPartSize } from '../../src-shared/contract/prompts.ts'
import type { Message } from '../executions/rules/message.ts'
import type { RepositoryState } from './repository-state.ts'

export type ExecutionRecord = Omit<Execution, 'message' | 'retry_at' | 'containment'> & {
  /** The containment that applies; null before the start, and for agents that Copse does not start. */
  readonly containment: HeldContainment | null
  readonly project_id: ProjectId
  /** The workflow allows the run to start; it may still wait for a free slot. */
  readonly dispatched: boolean
  /** `stalls`: how many times in a row it was stopped because it was silent. */
  readonly overrides: ExecutionOverrides & { readonly message?: Message; readonly stalls?: number | undefined }
  /** End offsets of the prompt's parts; null for prompts from before they were stored. */
  readonly prompt_parts: readonly PromptPartSize[] | null
  readonly start_commit: string | null
  /** State of the repository besides its files at the start; null if it was not read. */
  readonly repository_state: RepositoryState | null
  readonly pid: number | null
  readonly pid_started: string | null
  /** The run waits until then, for its provider's limit or a retry. */
  readonly retry_at: string | null
  /** The rank that a person gave it in the queue; null: after all ranked ones, by age. */
  readonly queue_rank: number | null
}

/** The fields of a queued or running execution that the queue needs, without the prompt, which may be large. */
export type OpenExecution = Pick<
  Execution,
  'id' | 'task_id' | 'role' | 'agent_id' | 'status' | 'runner_id' | 'created_at'
> & {
  readonly retry_at: string | null
  readonly queue_rank: number | null
  readonly project_id: ProjectId
  readonly dispatched: boolean
  /** The runners that its claim names; null: as its agent or project says. */
  readonly runner_ids: readonly RunnerId[] | null
  /** The execution delivers a person's message. */
  readonly is_message: boolean
}

export interface ExecutionQueries {
  get(id: ExecutionId): ExecutionRecord | null
  put(record: ExecutionRecord): void
  byTask(task_id: TaskId): readonly ExecutionRecord[]
  /** Returns queued and running executions, oldest first. */
  open(project_id?: ProjectId): readonly ExecutionRecord[]
  /** Returns the same without large fields, of one project or all. */
  queue(project_id?: ProjectId): readonly OpenExecution[]
  openOfTask(task_id: TaskId): readonly ExecutionRecord[]
  lastOf(task_id: TaskId, role: string): ExecutionRecord | null
}
