import { hostedExecutor } from '../../src-shared/contract/executor-profiles.ts'
import type { ExecutionId } from '../../src-shared/contract/ids.ts'
import type { PromptPart } from '../../src-shared/contract/prompts.ts'
import type { Assignee } from '../../src-shared/contract/tasks.ts'
import { composeParts } from '../domain/task/prompt-parts.ts'
import type { EngineContext } from '../core/context.ts'
import type { Tx } from '../core/event-feed.ts'
import { messageParts } from './message-prompt.ts'
import { sessionOf } from './messages.ts'
import type { ExecutionRecord, TaskRecord } from '../ports/store.ts'
import { feedbackFor, promptFacts } from './prompt-facts.ts'
import { toStoredPrompt } from './prompt-record.ts'

export interface NewExecution {
  /** By default a new one. */
  readonly id?: ExecutionId
  readonly task: TaskRecord
  readonly role: string
  readonly assignee: Assignee
  readonly overrides: ExecutionRecord['overrides']
  /** Continue the session of this role's last run, if there is one. */
  readonly resume: boolean
  readonly dispatched: boolean
  /** When it may start; by default at once. */
  readonly retry_at?: string
}

/** Queues an execution with the prompt that it will start with. */
export function enqueueExecution(context: EngineContext, tx: Tx, request: NewExecution): ExecutionRecord {
  const { task, role, assignee, overrides } = request
  const agent = assignee.type === 'agent' ? tx.agents.get(assignee.id) : null
  const feedback = feedbackFor(tx, task)
  const agent_id = agent?.id ?? null
  const session_id = request.resume || feedback !== null ? sessionOf(tx, { task_id: task.id, role, agent_id }) : null
  const told = { task, role, agent, session_id }
  const parts: readonly PromptPart[] =
    overrides.prompt !== undefined
      ? [{ kind: 'given', text: overrides.prompt }]
      : overrides.message
        ? messageParts(context, tx, told, overrides.message.text)
        : composeParts({ ...promptFacts(context, tx, told), review: null })
  const record: ExecutionRecord = {
    id: request.id ?? (context.newId() as ExecutionId),
    task_id: task.id,
    project_id: task.project_id,
    role,
    agent_id,
    user_id: assignee.type === 'user' ? assignee.id : null,
    executor: agent === null ? 'person' : agent.daemon_id === null ? agent.executor : hostedExecutor,
    status: 'queued',
    dispatched: request.dispatched,
    exit_code: null,
    ...toStoredPrompt(parts),
    overrides,
    session_id,
    usage: null,
    error: null,
    summary: null,
    start_commit: null,
    repository_state: null,
    containment: null,
    pid: null,
    pid_started: null,
    started_at: null,
    finished_at: null,
    last_heartbeat_at: null,
    retry_at: request.retry_at ?? null,
    queue_rank: null,
    created_at: tx.now(),
  }
  tx.executions.put(record)
  return record
}
