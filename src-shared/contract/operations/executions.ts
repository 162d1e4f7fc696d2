import { z } from 'zod'
import { Execution, LogFile } from '../executions.ts'
import { ExecutionId } from '../ids.ts'
import { get, read, post, list, slice } from '../operation.ts'
import { Task } from '../tasks.ts'

export const executionsOperations = {
  'executions.get': get(
    '/executions/{execution_id}',
    'member',
    'One execution.',
    z.object({ execution_id: ExecutionId }),
    Execution,
  ),
  'executions.stop': post(
    '/executions/{execution_id}/stop',
    'member',
    'End the execution’s whole process tree; the task stays where it is.',
    z.object({ execution_id: ExecutionId }),
    z.object({ execution: Execution, task: Task }),
    200,
    ['execution_not_running'],
  ),
  'executions.input': post(
    '/executions/{execution_id}/input',
    'member_human',
    'Write to the agent while it runs.',
    z.object({ execution_id: ExecutionId, data: z.string().max(1_000_000) }),
    z.null(),
    204,
    ['execution_not_running'],
  ),
  'executions.answer': post(
    '/executions/{execution_id}/answers',
    'member_human',
    'Answer what the agent asks: allow or reject what it wants to do, or choose or say what it wants to know.',
    z.object({
      execution_id: ExecutionId,
      ask_id: z.string().max(100),
      option_id: z.string().max(100).optional(),
      text: z.string().trim().min(1).max(20_000).optional(),
    }),
    z.object({ execution: Execution }),
    200,
    ['execution_not_running', 'already_answered'],
  ),
  'executions.heartbeat': post(
    '/executions/{execution_id}/heartbeat',
    'member',
    'Say that an execution elsewhere is alive.',
    z.object({ execution_id: ExecutionId }),
    z.object({ execution: Execution }),
    200,
    ['execution_not_running'],
  ),
  'executions.finish': post(
    '/executions/{execution_id}/finish',
    'member',
    'End an execution that runs elsewhere, or a person’s.',
    z.object({
      execution_id: ExecutionId,
      status: z.enum(['succeeded', 'failed']),
      summary: z.string().max(100_000).optional(),
    }),
    z.object({ execution: Execution, task: Task }),
    200,
    ['execution_not_running', 'forbidden'],
  ),
  'executions.logs': get(
    '/executions/{execution_id}/logs',
    'member',
    'The execution’s logs.',
    z.object({ execution_id: ExecutionId }),
    list(LogFile),
  ),
  'executions.read_log': read(
    '/executions/{execution_id}/logs/{name}',
    'A piece of one of the execution’s logs.',
    z.object({ execution_id: ExecutionId, name: z.string(), ...slice() }),
  ),
} as const
