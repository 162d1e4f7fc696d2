import { z } from 'zod'
import { Execution, ExecutionOverrides, LogFile, LogSlice } from './executions.ts'
import { Password, PersonalAccessToken, Session, User } from './identity.ts'
import { AgentId, ExecutionId, ProjectId, RepoId, TaskId, TokenId, UserId } from './ids.ts'
import type { ErrorCode } from './errors.ts'
import type { CallerRule, OperationSpec } from './operation.ts'
import { Agent, AgentConfig, DetectedAgent, executorProfiles, Project, ProjectSettings } from './projects.ts'
import { Review } from './reviews.ts'
import { recoveryActions, Task, TaskMove, TransitionEntry } from './tasks.ts'
import { Diff, diffScopes, Workspace } from './workspaces.ts'
import { WorkflowDefinition } from './workflow-definition.ts'

/**
 * THE contract: operation name → what it takes, answers and refuses. REST routes, IPC, MCP tools,
 * the typed client, the CLI and `openapi.json` are made from this table.
 */
export const operations = {
  'auth.register': post(
    '/auth/register',
    'public',
    'Make an account; the first one becomes admin and owns what is ownerless.',
    z.object({ email: z.email().max(254), password: Password, display_name: z.string().trim().min(1).max(100) }),
    Session,
    201,
    ['email_taken', 'registration_closed', 'rate_limited'],
  ),
  'auth.login': post(
    '/auth/login',
    'public',
    'Sign in with email and password.',
    z.object({ email: z.string().max(254), password: z.string().max(1_000) }),
    Session,
    200,
    ['invalid_credentials', 'rate_limited'],
  ),
  'auth.local': post(
    '/auth/local',
    'public',
    'Sign in as the local operator with the one-time code that the start printed (loopback only).',
    z.object({ code: z.string().max(100) }),
    Session.omit({ user: true, refresh_token: true }),
    200,
    ['invalid_credentials'],
  ),
  'auth.refresh': post(
    '/auth/refresh',
    'public',
    'Exchange a refresh token for a new pair.',
    z.object({ refresh_token: z.string().max(100) }),
    Session,
    200,
    ['invalid_refresh_token', 'refresh_token_reused'],
  ),
  'auth.logout': post(
    '/auth/logout',
    'public',
    'Delete the refresh token; harmless for an unknown one.',
    z.object({ refresh_token: z.string().max(100) }),
    z.null(),
    204,
  ),
  'auth.me': get(
    '/auth/me',
    'anyone',
    'Who the token belongs to. An agent’s token answers its owner.',
    z.object({}),
    User,
  ),
  'auth.create_token': post(
    '/auth/tokens',
    'jwt',
    'Make a personal access token; it is shown this once.',
    z.object({ name: z.string().trim().min(1).max(100) }),
    PersonalAccessToken.omit({ last_used_at: true }).extend({ token: z.string() }),
    201,
    ['jwt_required'],
  ),
  'auth.list_tokens': get(
    '/auth/tokens',
    'human',
    'The caller’s personal access tokens.',
    z.object({}),
    list(PersonalAccessToken),
  ),
  'auth.delete_token': del(
    '/auth/tokens/{token_id}',
    'human',
    'Revoke a personal access token.',
    z.object({ token_id: TokenId }),
    ['forbidden'],
  ),
  'admin.list_users': get('/admin/users', 'admin', 'All registered users.', z.object({}), list(User), [
    'admin_required',
  ]),

  'system.get': get(
    '/system',
    'anyone',
    'What this installation is: for the first screen and for diagnosis.',
    z.object({}),
    SystemInfo(),
  ),
  'system.inspect_folder': post(
    '/system/inspect_folder',
    'human',
    'Whether a folder can become a project, and its branches.',
    z.object({ path: z.string().min(1).max(4_096) }),
    z.object({ path: z.string(), name: z.string(), default_branch: z.string(), branches: z.array(z.string()) }),
    200,
    ['not_a_git_repository', 'repository_has_no_commits'],
  ),
  'demo.create': post(
    '/demo',
    'human',
    'Make a small repository with a project, a scripted agent and one task.',
    z.object({}),
    z.object({ project: Project, task: Task, agent: Agent }),
    201,
  ),

  'projects.list': get('/projects', 'anyone', 'The projects that the caller may see.', z.object({}), list(Project)),
  'projects.create': post(
    '/projects',
    'human',
    'Make a project of a git repository on this machine.',
    z.object({
      name: z.string().trim().min(1).max(100),
      repo_path: z.string().min(1).max(4_096),
      default_branch: z.string().min(1).max(250).optional(),
    }),
    Project,
    201,
    ['not_a_git_repository', 'repository_has_no_commits'],
  ),
  'projects.get': get('/projects/{project_id}', 'member', 'One project.', z.object({ project_id: ProjectId }), Project),
  'projects.update': patch(
    '/projects/{project_id}',
    'owner',
    'Rename, pause or resume a project, or replace its workflow.',
    z.object({
      project_id: ProjectId,
      name: z.string().trim().min(1).max(100).optional(),
      paused_at: z.iso.datetime().nullable().optional(),
      workflow_definition: z.string().max(1_000_000).optional(),
    }),
    Project,
    ['workflow_invalid', 'states_in_use'],
  ),
  'projects.delete': del(
    '/projects/{project_id}',
    'owner',
    'Delete a project; the repository stays as it is unless `delete_branches`.',
    z.object({
      project_id: ProjectId,
      delete_branches: z
        .boolean()
        .optional()
        .describe('Also remove the worktrees and task branches that the service made.'),
    }),
    ['project_busy'],
  ),
  'projects.get_settings': get(
    '/projects/{project_id}/settings',
    'member',
    'A project’s settings.',
    z.object({ project_id: ProjectId }),
    ProjectSettings,
  ),
  'projects.update_settings': patch(
    '/projects/{project_id}/settings',
    'owner',
    'Replace the settings that are named.',
    ProjectSettings.partial().extend({ project_id: ProjectId }),
    ProjectSettings,
  ),
  'projects.get_workflow': get(
    '/projects/{project_id}/workflow',
    'member',
    'The workflow in force, resolved.',
    z.object({ project_id: ProjectId }),
    WorkflowDefinition,
  ),

  'agents.list': get(
    '/agents',
    'anyone',
    'The agents that may work in the caller’s projects.',
    z.object({}),
    list(Agent),
  ),
  'agents.detect': get(
    '/agents/detected',
    'human',
    'Which coding agents are installed on this machine.',
    z.object({}),
    list(DetectedAgent),
  ),
  'agents.create': post(
    '/agents',
    'human',
    'Make an agent.',
    z.object({
      name: z.string().trim().min(1).max(100),
      executor: z.enum(executorProfiles),
      config: AgentConfig.optional(),
    }),
    Agent,
    201,
  ),
  'agents.get': get('/agents/{agent_id}', 'anyone', 'One agent.', z.object({ agent_id: AgentId }), Agent),
  'agents.update': patch(
    '/agents/{agent_id}',
    'human',
    'Rename, configure, pause or resume an agent.',
    z.object({
      agent_id: AgentId,
      name: z.string().trim().min(1).max(100).optional(),
      config: AgentConfig.optional(),
      paused: z.boolean().optional(),
    }),
    Agent,
    ['forbidden'],
  ),
  'agents.delete': del(
    '/agents/{agent_id}',
    'human',
    'Delete an agent that is not at work.',
    z.object({ agent_id: AgentId }),
    ['forbidden', 'already_claimed'],
  ),

  'tasks.list': get(
    '/projects/{project_id}/tasks',
    'member',
    'The project’s tasks, newest position first.',
    z.object({
      project_id: ProjectId,
      status: z.string().optional(),
      q: z.string().max(500).optional(),
      label: z.string().optional(),
      assignee: z.string().optional(),
      parent_id: TaskId.optional(),
      include_archived: z.boolean().optional(),
      ...page(),
    }),
    paginated(Task),
  ),
  'tasks.create': post(
    '/projects/{project_id}/tasks',
    'member',
    'Write a task.',
    z.object({
      project_id: ProjectId,
      title: z.string().trim().min(1).max(500),
      description: z.string().max(1_000_000).optional(),
      review_config: z
        .object({
          ci_steps: z.array(z.string().min(1)).max(100).optional(),
          review_prompt: z.string().nullable().optional(),
        })
        .optional(),
      status: z.string().optional(),
      labels: z.array(z.string().min(1).max(50)).max(50).optional(),
      priority: z.int().min(0).max(4).optional(),
      repo_id: RepoId.optional(),
    }),
    Task,
    201,
  ),
  'tasks.get': get('/tasks/{task_id}', 'member', 'One task.', z.object({ task_id: TaskId }), Task),
  'tasks.update': patch(
    '/tasks/{task_id}',
    'member',
    'Edit a task; with `version`, only if nobody changed it since.',
    z.object({
      task_id: TaskId,
      version: z.int().optional(),
      title: z.string().trim().min(1).max(500).optional(),
      description: z.string().max(1_000_000).nullable().optional(),
      labels: z.array(z.string().min(1).max(50)).max(50).optional(),
      priority: z.int().min(0).max(4).optional(),
      position: z.number().optional(),
      review_config: z
        .object({
          ci_steps: z.array(z.string().min(1)).max(100).optional(),
          review_prompt: z.string().nullable().optional(),
        })
        .optional(),
    }),
    Task,
    ['version_conflict'],
  ),
  'tasks.delete': del(
    '/tasks/{task_id}',
    'member_human',
    'Delete a task that nothing works on; uncommitted work is kept as a rescue ref first.',
    z.object({ task_id: TaskId }),
    ['already_claimed'],
  ),
  'tasks.claim': post(
    '/tasks/{task_id}/claim',
    'member',
    'Take a task: for the named agent, else for the caller.',
    z.object({ task_id: TaskId, agent_id: AgentId.optional(), overrides: ExecutionOverrides.nullable().optional() }),
    z.object({ task: Task, execution: Execution, workspace: Workspace.nullable() }),
    200,
    [
      'agent_paused',
      'project_paused',
      'dependency_gate',
      'already_claimed',
      'not_claimable',
      'task_terminal',
      'workspace_locked',
    ],
  ),
  'tasks.transition': post(
    '/tasks/{task_id}/transition',
    'member',
    'Move a task along its workflow.',
    z.object({ task_id: TaskId, status: z.string(), version: z.int(), reason: z.string().max(10_000).optional() }),
    z.object({ task: Task, review: Review.optional() }),
    200,
    [
      'version_conflict',
      'invalid_transition',
      'audience_mismatch',
      'entry_barrier',
      'task_terminal',
      'review_not_ready',
      'merge_target_dirty',
      'transition_blocked',
    ],
  ),
  'tasks.moves': get(
    '/tasks/{task_id}/moves',
    'member',
    'Where the caller may move the task, and why not elsewhere.',
    z.object({ task_id: TaskId }),
    list(TaskMove),
  ),
  'tasks.verdict': post(
    '/tasks/{task_id}/verdict',
    'member',
    'Judge the task at its gate.',
    z.object({
      task_id: TaskId,
      verdict: z.enum(['pass', 'fail']),
      feedback: z.string().max(100_000).optional(),
      version: z.int().optional(),
    }),
    z.object({ task: Task, review: Review.optional() }),
    200,
    ['not_at_gate', 'version_conflict', 'review_not_ready', 'entry_barrier', 'forbidden'],
  ),
  'tasks.cancel': post(
    '/tasks/{task_id}/cancel',
    'member',
    'Cancel a task; its worktree is kept for a day.',
    z.object({ task_id: TaskId }),
    z.object({ task: Task }),
    200,
    ['task_terminal', 'invalid_transition'],
  ),
  'tasks.archive': post(
    '/tasks/{task_id}/archive',
    'member',
    'Hide a task from the lists.',
    z.object({ task_id: TaskId }),
    z.object({ task: Task }),
  ),
  'tasks.unarchive': post(
    '/tasks/{task_id}/unarchive',
    'member',
    'Show an archived task again.',
    z.object({ task_id: TaskId }),
    z.object({ task: Task }),
  ),
  'tasks.assign_role': post(
    '/tasks/{task_id}/roles/{role}',
    'member_human',
    'Give a role to an agent or a user.',
    z.object({ task_id: TaskId, role: z.string(), agent_id: AgentId.optional(), user_id: UserId.optional() }),
    z.object({ task: Task }),
    200,
    ['unknown_role', 'task_terminal', 'humans_only'],
  ),
  'tasks.recover': post(
    '/tasks/{task_id}/recovery',
    'member',
    'Take one of the ways out that the task’s error names.',
    z.object({ task_id: TaskId, action: z.enum(recoveryActions), reason: z.string().max(10_000).optional() }),
    z.object({ task: Task }),
    200,
    ['recovery_not_available', 'task_terminal'],
  ),
  'tasks.transitions': get(
    '/tasks/{task_id}/transitions',
    'member',
    'The task’s audit, oldest first.',
    z.object({ task_id: TaskId }),
    list(TransitionEntry),
  ),
  'tasks.reviews': get(
    '/tasks/{task_id}/reviews',
    'member',
    'Every review attempt, newest first.',
    z.object({ task_id: TaskId }),
    list(Review),
  ),
  'tasks.executions': get(
    '/tasks/{task_id}/executions',
    'member',
    'Every execution, newest first.',
    z.object({ task_id: TaskId }),
    list(Execution),
  ),
  'tasks.workspace': get(
    '/tasks/{task_id}/workspace',
    'member',
    'The task’s worktree; 404 before the first claim.',
    z.object({ task_id: TaskId }),
    Workspace,
  ),
  'tasks.reset_workspace': post(
    '/tasks/{task_id}/workspace/reset',
    'member_human',
    'Start anew from the default branch when the worktree and its branch are gone.',
    z.object({ task_id: TaskId }),
    z.object({ task: Task, workspace: Workspace }),
    200,
    ['reset_not_required'],
  ),
  'tasks.diff': get(
    '/tasks/{task_id}/diff',
    'member',
    'What changed in the worktree: uncommitted, or on the whole branch.',
    z.object({ task_id: TaskId, scope: z.enum(diffScopes).default('uncommitted'), path: z.string().optional() }),
    Diff,
  ),
  'tasks.logs': get(
    '/tasks/{task_id}/logs',
    'member',
    'All logs of a task.',
    z.object({ task_id: TaskId }),
    list(LogFile),
  ),
  'tasks.read_log': read(
    '/tasks/{task_id}/logs/{name}',
    'A piece of one of the task’s logs.',
    z.object({ task_id: TaskId, name: z.string(), ...slice() }),
  ),

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
} as const satisfies Record<string, OperationSpec>

/** Endless answers: SSE over HTTP, pushes over IPC. */
export const streams = {
  'events.stream': {
    path: '/events',
    who: 'anyone',
    summary: 'Every change, numbered; `Last-Event-ID` resumes without loss.',
    input: z.object({ project_id: ProjectId.optional() }),
  },
  'executions.stream': {
    path: '/executions/{execution_id}/stream',
    who: 'member',
    summary: 'The transcript as it grows, from `Last-Event-ID` on.',
    input: z.object({ execution_id: ExecutionId }),
  },
} as const satisfies Record<string, { path: `/${string}`; who: CallerRule; summary: string; input: z.ZodObject }>

export type OperationName = keyof typeof operations
/** What a client sends: ids are plain strings, defaults may be left out. */
export type OperationInput<N extends OperationName> = z.input<(typeof operations)[N]['input']>
/** What a handler receives after parsing. */
export type OperationRequest<N extends OperationName> = z.output<(typeof operations)[N]['input']>
export type OperationOutput<N extends OperationName> = z.output<(typeof operations)[N]['output']>
export type StreamName = keyof typeof streams
export type StreamInput<N extends StreamName> = z.input<(typeof streams)[N]['input']>

function SystemInfo() {
  return z
    .object({
      version: z.string(),
      data_dir: z.string(),
      registered: z.boolean().describe('Somebody has registered, so the API is open to other clients.'),
      local_operator: z.boolean().describe('The caller is the person at this machine.'),
      url: z.string().nullable().describe('Where the HTTP API listens.'),
    })
    .meta({ id: 'SystemInfo' })
}

function page() {
  return { cursor: z.string().max(500).optional(), limit: z.int().min(1).max(200).default(50) }
}
function slice() {
  return { offset: z.int().min(0).default(0), limit: z.int().min(1).max(4_194_304).default(1_048_576) }
}
function list<T extends z.ZodType>(item: T) {
  return z.object({ items: z.array(item) })
}
function paginated<T extends z.ZodType>(item: T) {
  return z.object({ items: z.array(item), has_more: z.boolean(), next_cursor: z.string().nullable() })
}

function get<W extends CallerRule, I extends z.ZodObject, O extends z.ZodType>(
  path: `/${string}`,
  who: W,
  summary: string,
  input: I,
  output: O,
  errors: readonly ErrorCode[] = [],
) {
  return { method: 'GET', path, who, summary, input, output, status: 200, errors, responds: 'json' } as const
}
function read<I extends z.ZodObject>(path: `/${string}`, summary: string, input: I) {
  return {
    method: 'GET',
    path,
    who: 'member',
    summary,
    input,
    output: LogSlice,
    status: 200,
    errors: [],
    responds: 'bytes',
  } as const
}
function post<W extends CallerRule, I extends z.ZodObject, O extends z.ZodType, S extends 200 | 201 | 204 = 200>(
  path: `/${string}`,
  who: W,
  summary: string,
  input: I,
  output: O,
  status: S = 200 as S,
  errors: readonly ErrorCode[] = [],
) {
  return { method: 'POST', path, who, summary, input, output, status, errors, responds: 'json' } as const
}
function patch<W extends CallerRule, I extends z.ZodObject, O extends z.ZodType>(
  path: `/${string}`,
  who: W,
  summary: string,
  input: I,
  output: O,
  errors: readonly ErrorCode[] = [],
) {
  return { method: 'PATCH', path, who, summary, input, output, status: 200, errors, responds: 'json' } as const
}
function del<W extends CallerRule, I extends z.ZodObject>(
  path: `/${string}`,
  who: W,
  summary: string,
  input: I,
  errors: readonly ErrorCode[] = [],
) {
  return {
    method: 'DELETE',
    path,
    who,
    summary,
    input,
    output: z.null(),
    status: 204,
    errors,
    responds: 'json',
  } as const
}
