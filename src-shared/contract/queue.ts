import { z } from 'zod'
import type { queueMoves } from './action-names.ts'
import { AgentId, ExecutionId, RunnerId, TaskId, Timestamp } from './ids.ts'

/** Why an execution has not started: the first reason that applies. */
const waitReasons = [
  'entering',
  'task_paused',
  'task_busy',
  'project_paused',
  'agent_paused',
  'worktree_busy',
  'slots_full',
  'runner_full',
  'runner_unreachable',
  'starting',
  'limit_reached',
  'usage_limit',
  'retry_later',
] as const
export type WaitReason = (typeof waitReasons)[number]

export const QueueEntry = z.object({
  execution_id: ExecutionId,
  task_id: TaskId,
  title: z.string(),
  role: z.string(),
  agent_id: AgentId,
  created_at: Timestamp,
})

export type QueueMove = (typeof queueMoves)[number]

/**
 * A project's running executions, and the queued ones in the order in which they start: by age, unless people moved
 * them.
 */
export const Queue = z
  .object({
    limit: z.int().describe('`max_concurrent_executions` of the settings.'),
    running: z.array(
      QueueEntry.extend({
        started_at: Timestamp.nullable(),
        quiet_since: Timestamp.nullable().describe('Since when nothing was heard of it, once that is long.'),
        model_silent_since: Timestamp.nullable().describe(
          'Since when its model has not answered, once that is 20 s: the agent may be repeating its request. Of a command, since when it has written nothing.',
        ),
      }),
    ),
    waiting: z.array(
      QueueEntry.extend({
        reason: z
          .enum(waitReasons)
          .describe(
            '`entering`: its task still enters its state. `task_paused`: a message whose task was stopped; it comes with the next resume. `task_busy`: a message that is sent after the current run. `worktree_busy`: another task runs in the same worktree. `slots_full`: its turn comes when a slot is free. `runner_full`: every runner it may use is full. `runner_unreachable`: none of them is ready. `limit_reached`: a limit of its project, task or agent. `usage_limit`: its account is limited by its provider until `retry_at`. `retry_later`: it is tried again at `retry_at`.',
          ),
        retry_at: Timestamp.optional().describe('When it is tried again.'),
        runner_ids: z
          .array(RunnerId)
          .optional()
          .describe('The runners that it waits for, with `runner_full` and `runner_unreachable` only.'),
        position: z.int().nullable().describe('From 1, among those that wait for a slot only.'),
      }),
    ),
  })
  .meta({ id: 'Queue' })
export type Queue = z.infer<typeof Queue>

/** Usage as agents report it. */
export const UsageSum = z.object({
  executions: z.int().describe('Those that reported anything.'),
  input_tokens: z.int().nullable().describe('null when no agent told its tokens.'),
  output_tokens: z.int().nullable(),
  cost_usd: z.number().nullable().describe('null when no agent named a price.'),
  incomplete: z.boolean().describe('Some runs named no price, or not of all that they used, so the cost may be more.'),
})
export type UsageSum = z.infer<typeof UsageSum>

export const ProjectUsage = z
  .object({
    total: UsageSum,
    by_agent: z.array(UsageSum.extend({ agent_id: AgentId })).describe('The largest first, by tokens.'),
    by_task: z.array(UsageSum.extend({ task_id: TaskId, title: z.string() })).describe('The fifty largest, by tokens.'),
  })
  .meta({ id: 'ProjectUsage' })
export type ProjectUsage = z.infer<typeof ProjectUsage>
