import { LandingResult } from '../landing.ts'
import { z } from 'zod'
import { Execution, ExecutionOverrides } from '../executions.ts'
import { AgentId, CommentId, ProjectId, RepoId, TaskId, UserId } from '../ids.ts'
import { get, post, patch, put, del, list, page, paginated } from '../operation.ts'
import { Review } from '../reviews.ts'
import { recoveryActions } from '../action-names.ts'
import { Dependency, Preview, Task, TaskFields, TaskMove, limitsChecked, limitsUnenforced } from '../tasks.ts'
import { SeenTree, Workspace } from '../workspaces.ts'

/** Of moves and verdicts, which may lead to a merge. */
const mergeRefusals = [
  'dependency_gate',
  ...(['work_changed', 'review_not_ready', 'merge_target_dirty'] as const),
  ...(['workspace_locked', 'workspace_failed', 'repository_missing', 'transition_blocked'] as const),
] as const

/** Of what ends a task. */
const closePullRequest = z
  .boolean()
  .optional()
  .describe('Also close its open pull request at the forge; without it that stays open. Only people may.')

/** Why a pull request can't be closed. */
const closeRefusals = ['integration_disabled', 'pull_requests_disabled'] as const

/** What a task is created from. */
export const NewTaskFields = z.object({
  ...TaskFields.partial({
    ...({ description: true, review_config: true, labels: true, priority: true, repo_id: true } as const),
    stacked_on: true,
  }).shape,
  status: z.string().optional(),
  parent_id: TaskId.optional(),
  subtask_mode: z
    .enum(['independent', 'ordered'])
    .optional()
    .describe('Of a subtask: a workspace of its own (default), or turns in the parent’s.'),
})

/** One of many tasks that are created together. */
const NewTaskOfMany = z.strictObject({
  ...NewTaskFields.shape,
  key: z.string().min(1).max(100).optional().describe('A name of its own in this request, for `depends_on`.'),
  depends_on: z
    .array(z.string().min(1).max(100))
    .max(100)
    .optional()
    .describe('Tasks that must be done first: keys of this request, or ids of tasks that exist.'),
})

export const tasksOperations = {
  'tasks.list': get(
    '/projects/{project_id}/tasks',
    'member',
    'The project’s tasks, newest position first.',
    z.object({
      project_id: ProjectId,
      status: z.string().optional(),
      q: z
        .string()
        .max(500)
        .optional()
        .describe(
          'Words of the title or description: all of them, in any order, each as the beginning of a word, in scripts without spaces anywhere; case, accents and width make no difference. Or what people call a task: `SHO-42`, `42`. Or `id:` and the beginning or end of the id, or `SHO-42`.',
        ),
      label: z.string().optional(),
      assignee: z.string().optional(),
      parent_id: TaskId.optional(),
      include_archived: z.boolean().optional(),
      ...page({ most: 500 }),
    }),
    paginated(Task),
  ),
  'tasks.board': get(
    '/projects/{project_id}/board',
    'member',
    'The first page of a board: the first tasks of each state, all tasks that run or are stuck, and the counts.',
    z.object({ project_id: ProjectId }),
    z.object({
      items: z
        .array(Task)
        .describe('None that is archived. With those for which one of them waits, and the subtasks of each.'),
      counts: z.record(z.string(), z.int()).describe('All tasks of each state that has some, but archived ones.'),
    }),
  ),
  'tasks.previews': get(
    '/projects/{project_id}/previews',
    'member',
    'Of the worktrees whose ports something answers on now, like a dev server: the first of these ports.',
    z.object({ project_id: ProjectId }),
    list(Preview),
  ),
  'tasks.create': post(
    '/projects/{project_id}/tasks',
    'member',
    'Create a task.',
    z.object({ project_id: ProjectId, ...NewTaskFields.shape }),
    Task,
    201,
    ['task_terminal', 'humans_only', 'forbidden', 'cross_project_dependency', 'rate_limited'],
  ),
  'tasks.create_many': post(
    '/projects/{project_id}/tasks/bulk',
    'member',
    'Create up to 1,000 tasks, in this order: all of them, or none if one is refused; `details.index` says which.',
    z.object({ project_id: ProjectId, items: z.array(NewTaskOfMany).min(1).max(1_000) }),
    list(Task),
    201,
    ['task_terminal', 'humans_only', 'forbidden', 'cross_project_dependency', 'dependency_cycle', 'rate_limited'],
  ),
  'tasks.get': get('/tasks/{task_id}', 'member', 'One task.', z.object({ task_id: TaskId }), Task),
  'tasks.update': patch(
    '/tasks/{task_id}',
    'task_worker',
    'Edit a task; with `version`, only if no one changed it since.',
    z.object({
      task_id: TaskId,
      version: z.int().optional(),
      ...TaskFields.partial().shape,
      description: TaskFields.shape.description.nullable().optional(),
      repo_id: RepoId.optional().describe('Only while the task has no worktree; its ordered subtasks follow.'),
      position: z.number().optional(),
      above: TaskId.optional().describe('Puts it directly above this task of its project on the board.'),
      below: TaskId.optional().describe('Puts it directly below this one.'),
    }),
    Task,
    ['version_conflict', 'repo_in_use', 'humans_only', 'cross_project_dependency', 'dependency_cycle'],
  ),
  'tasks.delete': del(
    '/tasks/{task_id}',
    'member_human',
    'Delete a task that has no active run, nor a subtask in its worktree. Uncommitted work is kept in a snapshot (`rescue`) first. When its pull request can’t be closed, the task stays.',
    z.object({ task_id: TaskId, close_pull_request: closePullRequest }),
    ['already_claimed', 'workspace_locked', 'external_sync_failed', 'secret_bound', ...closeRefusals],
  ),
  'tasks.claim': post(
    '/tasks/{task_id}/claim',
    'member',
    'Start a task with the named agent, or as the caller.',
    z.object({ task_id: TaskId, agent_id: AgentId.optional(), overrides: ExecutionOverrides.nullable().optional() }),
    z.object({
      task: Task,
      execution: Execution.nullable().describe(
        'null: the state has no room, and the claim waits (`lock_policy: "wait"`); see the task’s `start_when_ready`.',
      ),
      workspace: Workspace.nullable(),
      limits_unenforced: limitsUnenforced,
      limits_checked: limitsChecked,
    }),
    200,
    [
      'agent_paused',
      'project_paused',
      'dependency_gate',
      'already_claimed',
      'not_claimable',
      'task_terminal',
      'entry_barrier',
      'PARENT_WORKSPACE_REQUIRED',
      'workspace_locked',
      'wip_limit',
      'limit_reached',
      ...(['containment_unavailable', 'runner_needs_trust'] as const),
      'workspace_failed',
      'transition_blocked',
      'humans_only',
      'forbidden',
    ],
  ),
  'tasks.start_when_ready': put(
    '/tasks/{task_id}/start_when_ready',
    'member',
    'Have an agent start the task once no dependency is open; at once if none is.',
    z.object({ task_id: TaskId, agent_id: AgentId, overrides: ExecutionOverrides.nullable().optional() }),
    z.object({ task: Task }),
    ['already_claimed', 'not_claimable', 'task_terminal', 'humans_only', 'forbidden'],
  ),
  'tasks.cancel_start': del(
    '/tasks/{task_id}/start_when_ready',
    'task_worker',
    'No longer start the task automatically.',
    z.object({ task_id: TaskId }),
    [],
  ),
  'tasks.transition': {
    ...post(
      '/tasks/{task_id}/transition',
      'task_worker',
      'Move a task along its workflow. Into a state that merges it answers when the task has landed or not.',
      z.object({
        task_id: TaskId,
        status: z.string(),
        version: z.int(),
        reason: z.string().max(10_000).optional(),
        on_red: z
          .boolean()
          .default(false)
          .describe('Land although the checks of the base branch fail already. Only people may.'),
        respond_async: z
          .boolean()
          .default(false)
          .describe('Answer at once where the merge must be tested first; as a header: `Prefer: respond-async`.'),
        tree: SeenTree.describe(
          'The `tree` of the diff that was looked at: refused with `work_changed` when the work has changed since. A person who sends it can merge work that no review judged; that is recorded as their verdict `pass`.',
        ),
      }),
      z.object({
        task: Task,
        review: Review.optional(),
        landing: LandingResult.optional().describe('How a move into a state that merges ended.'),
        landing_deferred: z
          .literal(true)
          .optional()
          .describe('The merge is tested first; `landing.updated` tells how it goes.'),
      }),
      200,
      [
        'version_conflict',
        'invalid_transition',
        'audience_mismatch',
        'entry_barrier',
        'task_terminal',
        'base_red',
        ...mergeRefusals,
      ],
    ),
    deferred: 'landing_deferred',
  },
  'tasks.moves': get(
    '/tasks/{task_id}/moves',
    'member',
    'The states the caller can move the task to, and why not the others.',
    z.object({ task_id: TaskId }),
    list(TaskMove),
  ),
  'tasks.verdict': post(
    '/tasks/{task_id}/verdict',
    'task_worker',
    'Approve the task or request changes at its gate.',
    z.object({
      task_id: TaskId,
      verdict: z.enum(['pass', 'fail']),
      feedback: z.string().max(100_000).optional(),
      comment_ids: z
        .array(CommentId)
        .max(500)
        .optional()
        .describe(
          'Of a `fail`: the comments that go to the coder with it. Those of yours that were not sent yet when left out.',
        ),
      version: z.int().optional(),
      tree: SeenTree.describe(
        'The `tree` of the diff that a `pass` is about: refused with `work_changed` when the work has changed since.',
      ),
    }),
    z.object({ task: Task, review: Review.optional() }),
    200,
    ['not_at_gate', 'version_conflict', 'entry_barrier', ...mergeRefusals],
  ),
  'tasks.cancel': post(
    '/tasks/{task_id}/cancel',
    'task_worker',
    'Cancel a task; its worktree is kept for a day.',
    z.object({ task_id: TaskId, close_pull_request: closePullRequest }),
    z.object({ task: Task }),
    200,
    ['task_terminal', 'invalid_transition', 'humans_only', ...closeRefusals],
  ),
  'tasks.archive': post(
    '/tasks/{task_id}/archive',
    'task_worker',
    'Hide a task from the lists.',
    z.object({ task_id: TaskId, close_pull_request: closePullRequest }),
    z.object({ task: Task }),
    200,
    ['humans_only', ...closeRefusals],
  ),
  'tasks.unarchive': post(
    '/tasks/{task_id}/unarchive',
    'task_worker',
    'Show an archived task again.',
    z.object({ task_id: TaskId }),
    z.object({ task: Task }),
  ),
  'tasks.assign_role': post(
    '/tasks/{task_id}/roles/{role}',
    'member_human',
    'Assign an agent or a user to a role.',
    z
      .object({
        task_id: TaskId,
        role: z.string(),
        agent_id: AgentId.optional(),
        user_id: UserId.optional(),
        reset_worktree: z
          .boolean()
          .optional()
          .describe('Discard uncommitted changes; they are kept in a snapshot (`rescue`).'),
        reset_workspace: z
          .boolean()
          .optional()
          .describe('Start over from the base branch; the old work is kept in a snapshot (`rescue`).'),
      })
      .refine(({ agent_id, user_id }) => (agent_id === undefined) !== (user_id === undefined), {
        path: ['agent_id'],
        message: 'Send either agent_id or user_id.',
      }),
    z.object({ task: Task }),
    200,
    ['unknown_role', 'task_terminal', 'humans_only', 'workspace_locked'],
  ),
  'tasks.recover': post(
    '/tasks/{task_id}/recovery',
    'task_worker',
    'Run one of the recovery actions that the task’s error lists.',
    z.object({
      task_id: TaskId,
      action: z.enum(recoveryActions),
      reason: z.string().max(10_000).optional(),
      tree: SeenTree.describe('With `retry_merge`: as with a transition.'),
      to: z
        .number()
        .positive()
        .max(1_000_000)
        .optional()
        .describe(
          'With `raise_limit`, by an owner of the project or an admin: how much this task may use from now on.',
        ),
    }),
    z.object({ task: Task }),
    200,
    [
      'recovery_not_available',
      'limit_reached',
      'owner_required',
      'humans_only',
      'work_changed',
      'task_terminal',
      'already_claimed',
      'not_claimable',
      'version_conflict',
      'review_not_ready',
      'merge_target_dirty',
      'workspace_locked',
      'workspace_failed',
      'repository_missing',
      'transition_blocked',
    ],
  ),
  'tasks.dependencies': get(
    '/tasks/{task_id}/dependencies',
    'member',
    'What must be done before this task can be claimed.',
    z.object({ task_id: TaskId }),
    list(Dependency),
  ),
  'tasks.add_dependency': post(
    '/tasks/{task_id}/dependencies',
    'task_worker',
    'Let this task wait for another; adding one twice is harmless.',
    z.object({ task_id: TaskId, depends_on_id: TaskId }),
    Dependency,
    201,
    ['dependency_cycle', 'cross_project_dependency'],
  ),
  'tasks.remove_dependency': del(
    '/tasks/{task_id}/dependencies/{depends_on_id}',
    'task_worker',
    'Remove a dependency.',
    z.object({ task_id: TaskId, depends_on_id: TaskId }),
  ),
  'tasks.feedback': post(
    '/tasks/{task_id}/feedback',
    'member_human',
    'Send unresolved comments and a message to the coder, as a follow-up execution. While someone is working in the ' +
      'state it waits as a `queued` execution, in order, and continues in the same session when they have ended, however ' +
      'they have; the task does not move on before it, and a move by the agent itself is refused with ' +
      '`transition_blocked`. After a stop it waits until someone resumes. A move by anyone else, or a cancellation, ' +
      'withdraws it.',
    z.object({
      task_id: TaskId,
      comment_ids: z.array(CommentId).max(500).optional().describe('All unresolved ones when left out.'),
      message: z.string().trim().min(1).max(100_000).optional(),
    }),
    z.object({ task: Task, execution: Execution }),
    200,
    [
      'not_claimable',
      'already_claimed',
      'task_terminal',
      'agent_paused',
      'project_paused',
      'workspace_locked',
      'entry_barrier',
      'version_conflict',
      'transition_blocked',
    ],
  ),
} as const
