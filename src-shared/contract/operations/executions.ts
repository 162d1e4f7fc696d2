import { z } from 'zod'
import { Execution, LogFile, runInstruction, UsageReport } from '../executions.ts'
import { ExecutionId } from '../ids.ts'
import { get, read, patch, post, list, slice } from '../operation.ts'
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
    'task_worker',
    'End the execution’s whole process tree; the task stays where it is. A message that waits for it rests with the ' +
      'task until someone resumes, and ending such a message before it starts withdraws it: its comments are open again.',
    z.object({ execution_id: ExecutionId }),
    z.object({ execution: Execution, task: Task }),
    200,
    ['execution_not_running'],
  ),
  'executions.update': patch(
    '/executions/{execution_id}',
    'member_human',
    'Change the words of a message that waits for its agent.',
    z.object({ execution_id: ExecutionId, message: z.string().trim().min(1).max(100_000) }),
    Execution,
    ['execution_not_running'],
  ),
  'executions.input': post(
    '/executions/{execution_id}/input',
    'member_human',
    'Write to the agent while it runs: a message for it to read, or to a command in a terminal the very keys.',
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
  'executions.resize': post(
    '/executions/{execution_id}/resize',
    'member_human',
    'Tell a command in a terminal how large the terminal is.',
    z.object({ execution_id: ExecutionId, cols: z.int().min(2).max(1_000), rows: z.int().min(1).max(1_000) }),
    z.null(),
    204,
    ['execution_not_running'],
  ),
  'executions.heartbeat': post(
    '/executions/{execution_id}/heartbeat',
    'task_worker',
    'Say that an execution elsewhere is alive, and what it has used so far. With `action` `stop`, end the work: a limit is ' +
      'reached. What a run that has ended had used is still taken, and answered with `stop`; without `usage` it is refused.',
    z.object({ execution_id: ExecutionId, usage: UsageReport.optional() }),
    z.object({ execution: Execution, ...runInstruction }),
    200,
    ['execution_not_running'],
  ),
  'executions.finish': post(
    '/executions/{execution_id}/finish',
    'task_worker',
    'End an execution that runs elsewhere, or a person’s.',
    z.object({
      execution_id: ExecutionId,
      status: z.enum(['succeeded', 'failed']),
      summary: z.string().max(100_000).optional(),
      usage: UsageReport.optional(),
    }),
    z.object({ execution: Execution, task: Task }),
    200,
    ['execution_not_running'],
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
    z.object({
      execution_id: ExecutionId,
      name: z.string(),
      ...slice(),
      wait_seconds: z
        .int()
        .min(0)
        .max(25)
        .default(0)
        .describe('At the end of a log that still grows: wait so long for more, instead of answering nothing.'),
    }),
  ),
} as const
