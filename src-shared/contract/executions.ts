import { executorProfiles } from './executor-profiles.ts'
import { z } from 'zod'
import { HeldContainment } from './containment.ts'
import { runFailureCodes } from './run-failures.ts'
import { AgentId, ExecutionId, RunnerId, TaskId, Timestamp, UserId } from './ids.ts'
import { Effort } from './projects.ts'
import { RunnerIds } from './runners.ts'

export const executionStatuses = ['queued', 'running', 'succeeded', 'failed', 'cancelled', 'stopped', 'lost'] as const
export type ExecutionStatus = (typeof executionStatuses)[number]

/** Usage of one run, without earlier runs of a resumed session. */
export const Usage = z.object({
  input_tokens: z.int().min(0).nullable().describe('null: the agent did not tell; never 0 for that.'),
  output_tokens: z.int().min(0).nullable(),
  cost_usd: z.number().min(0).nullable().describe('null where the price is unknown; never 0 for that.'),
  turns: z.int().min(0).optional().describe('Requests to the model; absent where the agent does not show them.'),
  model: z.string().optional().describe('The model that answered last, where the agent names it.'),
  estimated: z.boolean().optional().describe('The agent named no cost: it is worked out by list prices.'),
  incomplete: z
    .boolean()
    .optional()
    .describe('Of some requests the agent told no figures: the cost assumes them or leaves them out.'),
})
export type Usage = z.infer<typeof Usage>

/** A run's usage so far, as reported by its agent or machine. */
export const UsageReport = z
  .object({
    input_tokens: z.int().min(0).optional(),
    output_tokens: z.int().min(0).optional(),
    cost_usd: z.number().min(0).max(1_000_000).nullable().optional().describe('null or absent: unknown.'),
    turns: z.int().min(0).optional().describe('Requests to the model.'),
    model: z.string().min(1).max(200).optional(),
  })
  .describe(
    'What this run alone has used so far: its total, not what was added. A figure that is lower than before is ignored. ' +
      'Without a cost, it is worked out by list prices where `model` is known.',
  )
export type UsageReport = z.infer<typeof UsageReport>

/** The instruction to a run after a heartbeat. */
export const runInstruction = {
  action: z.enum(['continue', 'stop']),
  reason: z
    .enum(['limit_reached', ...executionStatuses])
    .optional()
    .describe('With `stop`: `limit_reached`, or the status of a run that has ended.'),
}

/** Kinds of an agent's tool calls. */
const toolActions = ['read', 'edit', 'write', 'run', 'search', 'fetch', 'mcp', 'other'] as const
export type ToolAction = (typeof toolActions)[number]

/** Verbs that people see before the target: `Edit src/a.ts`. */
export const actionVerbs = {
  read: 'Read',
  edit: 'Edit',
  write: 'Write',
  run: 'Run',
  search: 'Search',
  fetch: 'Fetch',
  mcp: 'Tool',
  other: 'Tool',
} as const satisfies Record<ToolAction, string>

const ToolDiff = z.object({ path: z.string(), old_text: z.string().nullable(), new_text: z.string() })

export const AskOption = z.object({
  id: z.string(),
  label: z.string(),
  description: z.string().nullable(),
  kind: z
    .enum(['allow_once', 'allow_always', 'reject_once', 'choice'])
    .describe('`allow_always` holds as long as this execution; `choice` answers a question.'),
})
export type AskOption = z.infer<typeof AskOption>

/** The contact with the machine of a run. */
const RunLink = z.object({ state: z.enum(['connected', 'lost']), since: Timestamp })
export type RunLink = z.infer<typeof RunLink>

/** A pending request of an agent to a person (`executions.answer`). It ends with its execution. */
export const Ask = z
  .object({
    id: z.string(),
    kind: z.enum(['permission', 'question']),
    text: z.string().describe('What it asks, in a sentence.'),
    tool: z.string().nullable().describe("The agent's own name of the tool that it wants to use."),
    action: z.enum(toolActions).nullable(),
    target: z.string().nullable().describe('The path, command or query in one line.'),
    detail: z.string().nullable().describe('The whole command, or all that the tool is given.'),
    diff: ToolDiff.nullable().describe('What it wants to change, when that is not too long.'),
    options: z.array(AskOption),
    multiple: z.boolean().describe('Several options may be chosen: answer with their labels as `text`.'),
    takes_text: z.boolean().describe('Own words are an answer; with a denial, they tell the agent why.'),
    owner_only: z
      .literal(true)
      .optional()
      .describe('It is about what the agent may reach, so only its owner or an admin may answer.'),
    asked_at: Timestamp,
  })
  .meta({ id: 'Ask' })
export type Ask = z.infer<typeof Ask>

export const Execution = z
  .object({
    id: ExecutionId,
    task_id: TaskId,
    role: z.string(),
    agent_id: AgentId.nullable(),
    user_id: UserId.nullable(),
    executor: z.enum([...executorProfiles, 'person']),
    status: z.enum(executionStatuses),
    exit_code: z.int().nullable(),
    prompt: z.string(),
    message: z
      .string()
      .optional()
      .describe(
        'What a person wrote that this execution brings to the agent. Until it starts, the words can be changed and withdrawn.',
      ),
    session_id: z.string().nullable(),
    usage: Usage.nullable(),
    error: z.string().nullable().describe('Why it did not succeed, in a sentence for people.'),
    failure: z.enum(runFailureCodes).optional().describe('The class of a run that failed, was lost, or met a limit.'),
    summary: z.string().nullable().describe('Its last words, or what was said when it was finished from outside.'),
    asks: z.array(Ask).optional().describe('What it waits for a person to answer; absent when that is nothing.'),
    containment: HeldContainment.optional().describe(
      'What the system held it to; absent before it starts, and for people and agents elsewhere.',
    ),
    runner_id: RunnerId.nullable().describe('Where it runs; null while it is queued, and for agents elsewhere.'),
    attempt: z.int().min(1).describe('Which one it is among the runs of its task in this role, queued ones included.'),
    link: RunLink.nullable().describe('The contact with the runner; null where the service has its processes itself.'),
    started_at: Timestamp.nullable(),
    finished_at: Timestamp.nullable(),
    last_heartbeat_at: Timestamp.nullable(),
    retry_at: Timestamp.optional().describe('It waits until then: for its provider’s limit, or to be tried again.'),
    created_at: Timestamp,
  })
  .meta({ id: 'Execution' })
export type Execution = z.infer<typeof Execution>

export const ExecutionOverrides = z.object({
  prompt: z.string().optional(),
  command: z.string().optional(),
  model: z.string().optional(),
  effort: Effort.optional(),
  args: z.array(z.string()).max(100).optional(),
  env: z.record(z.string(), z.string()).optional(),
  timeout_seconds: z.int().min(1).optional(),
  lock_policy: z.enum(['reject', 'wait']).optional(),
  runner_ids: RunnerIds.optional().describe(
    'Where it may run: the first of these that is ready and has room. By default as the agent says, else the project.',
  ),
})
export type ExecutionOverrides = z.infer<typeof ExecutionOverrides>

const at = { at: Timestamp }

/** A message or action of an agent; a line of `agent-*.jsonl`. `index` in the stream is its line number, from 0. */
export const TranscriptEntry = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('prompt'), ...at, text: z.string() }),
    z.object({ type: z.literal('message'), ...at, text: z.string() }),
    z.object({ type: z.literal('thinking'), ...at, text: z.string() }),
    z.object({
      type: z.literal('tool_call'),
      ...at,
      id: z.string(),
      tool: z.string().describe("The agent's own name of the tool."),
      action: z.enum(toolActions),
      target: z.string().nullable().describe('The path, command or query in one line.'),
      input: z.unknown(),
      diff: ToolDiff.nullable(),
    }),
    z.object({
      type: z.literal('tool_result'),
      ...at,
      id: z.string(),
      ok: z.boolean(),
      text: z.string(),
      line: z.int().min(1).optional().describe('Of an edit, where the agent tells it: the first line that it touches.'),
    }),
    z.object({ type: z.literal('stdout'), ...at, text: z.string() }),
    z.object({ type: z.literal('stderr'), ...at, text: z.string() }),
    z.object({
      type: z.literal('usage'),
      ...at,
      input_tokens: z.int(),
      output_tokens: z.int(),
      cost_usd: z.number().nullable(),
      cached_tokens: z.int().optional().describe('How much of the input came from a cache.'),
      cache_write_tokens: z.int().optional().describe('How much of the input was written to a cache.'),
      turns: z.int().optional().describe('How many requests to the model this tells of.'),
      model: z.string().optional(),
      assumed: z
        .boolean()
        .optional()
        .describe('The agent showed that it asked its model, and no figures: these are assumed until it tells.'),
      partial: z.boolean().optional().describe('The figures are of the last request only.'),
    }),
    z.object({ type: z.literal('error'), ...at, text: z.string() }),
    z.object({
      type: z.literal('denied'),
      ...at,
      what: z.enum(['path', 'host']),
      target: z.string().describe('What the run may not write, read or reach; a hint, which it can forge or avoid.'),
      access: z.enum(['read', 'write']).optional().describe('What was denied of a path, where that is seen.'),
      count: z.int().min(1).describe('How often so far; the last entry of a target tells. At most 100 entries a run.'),
    }),
    z.object({
      type: z.literal('home_written'),
      ...at,
      paths: z
        .array(z.string())
        .describe(
          "What a contained run was the first to write to the agent's private home, as paths from `~`: what can be kept.",
        ),
    }),
    z.object({
      type: z.literal('question'),
      ...at,
      text: z.string().describe('The run waits for a person to answer this.'),
      ask_id: z.string().optional().describe('Absent when its last words are the question.'),
      options: z.array(AskOption).optional(),
    }),
    z.object({
      type: z.literal('answer'),
      ...at,
      ask_id: z.string(),
      text: z.string().describe('What it was answered.'),
      by: z.string().describe('`user:<handle>`.'),
    }),
  ])
  .meta({ id: 'TranscriptEntry' })
export type TranscriptEntry = z.infer<typeof TranscriptEntry>

export const LogFile = z
  .object({ name: z.string(), kind: z.enum(['agent', 'hook', 'ci', 'landing']), size: z.int(), updated_at: Timestamp })
  .meta({ id: 'LogFile' })
export type LogFile = z.infer<typeof LogFile>

/** A slice of a log. REST returns its bytes, with `X-Next-Offset` and `X-Complete`. */
export const LogSlice = z
  .object({
    data_base64: z.string(),
    next_offset: z.int().describe('Where the next piece starts, in bytes.'),
    complete: z.boolean().describe('Nothing is left to read and nothing more will be written.'),
  })
  .meta({ id: 'LogSlice' })
export type LogSlice = z.infer<typeof LogSlice>
