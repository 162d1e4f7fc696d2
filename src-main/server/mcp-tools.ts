import { z } from 'zod'
import { ExecutionOverrides } from '../../src-shared/contract/executions.ts'
import type { OperationName } from '../../src-shared/contract/operations.ts'
import { diffScopes } from '../../src-shared/contract/workspaces.ts'
import { parseArguments } from './mcp-scope.ts'
import type { McpScope } from './mcp-scope.ts'
import { submitForReview } from './submit-for-review.ts'

/** A tool for agents. Its input schema is what they see; the API itself judges the values. */
export interface McpTool {
  readonly title: string
  readonly description: string
  readonly input: z.ZodObject
  /** Changes nothing. */
  readonly readOnly: boolean
  /** The operation that answers; where several are needed, the one that decides. */
  readonly operation: OperationName
  readonly run: (values: unknown, scope: McpScope) => Promise<unknown>
}

function tool<I extends z.ZodObject>(
  operation: OperationName,
  texts: { readonly title: string; readonly description: string; readonly readOnly?: boolean },
  input: I,
  run: (args: z.output<I>, scope: McpScope) => Promise<unknown>,
): McpTool {
  return {
    readOnly: false,
    ...texts,
    input,
    operation,
    run: (values, scope) => run(parseArguments(input, values), scope),
  }
}

const projectId = z
  .string()
  .optional()
  .describe("Id of the project. Default: your execution's project, else the only project that you may see.")
const taskId = z.string().optional().describe('Id of the task. Default: the task that you are working on.')
const executionId = z.string().optional().describe('Id of the execution. Default: your own.')
const labels = z.array(z.string()).optional().describe('Labels, each at most 50 characters; replaces them all.')
const priority = z.int().optional().describe('0 none, 1 low, 2 medium, 3 high, 4 urgent.')
const reviewConfig = z
  .object({
    ci_steps: z.array(z.string()).optional().describe('Shell commands that must pass before review.'),
    review_prompt: z.string().nullable().optional().describe('What a reviewing agent is asked.'),
  })
  .optional()

/** Tool name → what it does: a small table over the operations of the contract. */
export const mcpTools = {
  svc_list_projects: tool(
    'projects.list',
    {
      title: 'List projects',
      description: 'The projects that you may work in, with their repositories.',
      readOnly: true,
    },
    z.object({}),
    (_args, scope) => scope.call('projects.list', {}),
  ),
  svc_list_tasks: tool(
    'tasks.list',
    {
      title: 'List tasks',
      description: "A project's tasks, a page at a time. Pass next_cursor as cursor for the next page.",
      readOnly: true,
    },
    z.object({
      project_id: projectId,
      status: z.string().optional().describe('Only tasks in this state of the workflow, such as todo or review.'),
      q: z.string().optional().describe('Only tasks whose text has these words.'),
      label: z.string().optional(),
      include_archived: z.boolean().optional(),
      cursor: z.string().optional(),
      limit: z.int().optional().describe('1 to 200; 50 by default.'),
    }),
    async ({ project_id, ...filter }, scope) =>
      scope.call('tasks.list', { ...filter, project_id: await scope.projectId(project_id) }),
  ),
  svc_get_task: tool(
    'tasks.get',
    {
      title: 'Get a task',
      description: 'One task with its description, status, version, review and error.',
      readOnly: true,
    },
    z.object({ task_id: taskId }),
    ({ task_id }, scope) => scope.call('tasks.get', { task_id: scope.taskId(task_id) }),
  ),
  svc_create_task: tool(
    'tasks.create',
    {
      title: 'Create a task',
      description:
        "Writes a new task in the project's primary repository. It waits in the backlog unless status names another " +
        "starting state; nobody works on it before it is claimed. Without review_config the project's default holds.",
    },
    z.object({
      title: z.string().describe('A short label, at most 500 characters.'),
      description: z.string().optional().describe('The full prompt for the agent that will do it, in Markdown.'),
      project_id: projectId,
      status: z.string().optional().describe('A state of kind backlog or initial.'),
      labels,
      priority,
      review_config: reviewConfig,
    }),
    async ({ project_id, ...task }, scope) =>
      scope.call('tasks.create', { ...task, project_id: await scope.projectId(project_id) }),
  ),
  svc_update_task: tool(
    'tasks.update',
    {
      title: 'Update a task',
      description:
        'Changes the named fields of a task; it moves no task (see svc_submit_for_review, svc_submit_verdict).',
    },
    z.object({
      task_id: taskId,
      title: z.string().optional(),
      description: z.string().nullable().optional(),
      labels,
      priority,
      review_config: reviewConfig,
      version: z.int().optional().describe('Change it only if this is still its version.'),
    }),
    ({ task_id, ...changes }, scope) => scope.call('tasks.update', { ...changes, task_id: scope.taskId(task_id) }),
  ),
  svc_assign_agent: tool(
    'tasks.claim',
    {
      title: 'Assign an agent to a task',
      description:
        'Claims the task for the agent: makes its worktree and starts it. Refused when the agent or project is ' +
        'paused, a dependency is unfinished, or somebody holds the task already.',
    },
    z.object({
      task_id: z.string().describe('Id of the task to claim.'),
      agent_id: z.string().optional().describe('Id of the agent. Default: the caller claims it for themself.'),
      overrides: ExecutionOverrides.nullable().optional().describe("Laid over the agent's configuration for this run."),
    }),
    (args, scope) => scope.call('tasks.claim', args),
  ),
  svc_get_task_diff: tool(
    'tasks.diff',
    {
      title: "Get a task's diff",
      description: "What changed in the task's worktree, as a list of files and git's unified patch.",
      readOnly: true,
    },
    z.object({
      task_id: taskId,
      scope: z
        .enum(diffScopes)
        .optional()
        .describe('uncommitted (default): not committed yet, untracked files too. branch: all since the merge base.'),
      path: z.string().optional().describe('Only this file; needed for one that is marked truncated.'),
    }),
    ({ task_id, ...what }, scope) => scope.call('tasks.diff', { ...what, task_id: scope.taskId(task_id) }),
  ),
  svc_submit_for_review: tool(
    'tasks.transition',
    {
      title: 'Submit the work for review',
      description:
        'Say that the work is done: the task goes on to the next state of its workflow (review, by default), its ' +
        'CI steps run, and the execution ends. Commit your work first; what is uncommitted is part of the worktree still.',
    },
    z.object({ task_id: taskId, summary: z.string().optional().describe('What was done, for the reviewer.') }),
    ({ task_id, summary }, scope) => submitForReview(scope, scope.taskId(task_id), summary),
  ),
  svc_submit_verdict: tool(
    'tasks.verdict',
    {
      title: 'Submit a verdict',
      description:
        'Judges the task at its gate. pass lets it go on (or wait for a person, where the gate asks for one); ' +
        'fail sends it back with your feedback, which the coder reads next.',
    },
    z.object({
      task_id: taskId,
      verdict: z.enum(['pass', 'fail']),
      feedback: z.string().optional().describe('What has to change; say it with a fail.'),
      version: z.int().optional().describe('Judge it only if this is still its version.'),
    }),
    ({ task_id, ...verdict }, scope) => scope.call('tasks.verdict', { ...verdict, task_id: scope.taskId(task_id) }),
  ),
  svc_finish_execution: tool(
    'executions.finish',
    {
      title: 'Finish an execution',
      description:
        'Ends an execution that runs outside this service. succeeded moves the task on; failed leaves it where it is.',
    },
    z.object({
      execution_id: executionId,
      status: z.enum(['succeeded', 'failed']),
      summary: z.string().optional().describe('What was done, or why it failed.'),
    }),
    ({ execution_id, ...end }, scope) =>
      scope.call('executions.finish', { ...end, execution_id: scope.executionId(execution_id) }),
  ),
  svc_heartbeat: tool(
    'executions.heartbeat',
    {
      title: 'Say that you are alive',
      description: 'For executions outside this service: call at least every 60 seconds; after 90 without, it is lost.',
    },
    z.object({ execution_id: executionId }),
    ({ execution_id }, scope) => scope.call('executions.heartbeat', { execution_id: scope.executionId(execution_id) }),
  ),
} as const satisfies Record<string, McpTool>
