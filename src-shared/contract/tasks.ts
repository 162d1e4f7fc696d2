import { z } from 'zod'
import { recoveryActions } from './action-names.ts'
import { ConflictHunk } from './conflicts.ts'
import { ExecutionOverrides } from './executions.ts'
import { AgentId, ExecutionId, ProjectId, RepoId, TaskId, Timestamp, TransitionId, UserId } from './ids.ts'
import { limitNames } from './limit-names.ts'
import { hookEvents } from './lifecycle-hooks.ts'
import { BaseConflict } from './overlaps.ts'
import { PullRequestRef } from './pull-requests.ts'
import { ReviewConfig } from './projects.ts'
import { reviewStatuses } from './reviews.ts'
import { runFailureCodes } from './run-failures.ts'
import { hookPhases } from './workflow-definition.ts'
import { shownName } from './shown-name.ts'

export const Assignee = z.union([
  z.object({ type: z.literal('agent'), id: AgentId }),
  z.object({ type: z.literal('user'), id: UserId }),
])
export type Assignee = z.infer<typeof Assignee>

export const annotationTypes = [
  'hook_failed',
  'execution_paused',
  'execution_failed',
  'execution_incomplete',
  'execution_lost',
  'limit_reached',
  'needs_person',
  'usage_limit',
  'merge_conflict',
  'retry_budget_exhausted',
  'workspace_error',
  'workspace_reset_required',
  'nested_repository',
  'submodule_not_pushed',
  'work_elsewhere',
  'dependency_failed',
  'pull_request_closed',
  'pull_request_merged',
  'pull_request_diverged',
] as const
export type RecoveryAction = (typeof recoveryActions)[number]

/** Where a run left work that is not on the task's branch. */
export const WorkPlace = z.object({
  kind: z
    .enum(['branch', 'detached', 'stash', 'link'])
    .describe('`link`: the worktree’s `.git` file is gone or changed.'),
  ref: z.string().nullable().describe('The branch’s ref, or the commit of a detached HEAD or a stash entry.'),
  commits: z.int().describe('Commits that the task’s branch lacks.'),
  files: z.int().describe('Files that they change.'),
})
export type WorkPlace = z.infer<typeof WorkPlace>

/** Why a task needs a person, and what they can do about it. */
export const ErrorAnnotation = z.object({
  type: z.enum(annotationTypes),
  message: z.string(),
  recovery_actions: z.array(z.enum(recoveryActions)),
  reason: z.string().optional(),
  failure: z.enum(runFailureCodes).optional().describe('The class of the failed run; `advice` says what to do.'),
  advice: z.string().optional(),
  files: z.array(z.string()).optional(),
  folders: z.array(z.string()).optional().describe('Of repositories inside the worktree: their paths in it.'),
  places: z.array(WorkPlace).optional().describe('Of `work_elsewhere`: where the work is.'),
  hunks: z
    .array(ConflictHunk)
    .optional()
    .describe('Of a merge conflict: as many of its places as fit; `tasks.conflicts` has more.'),
  execution_id: ExecutionId.optional(),
  hook: z.string().optional().describe('Of a failed hook: its plugin, `script`, or `before_work[0]`.'),
  log_name: z.string().optional().describe('The log of the hook.'),
  exit_code: z.int().nullable().optional(),
  stderr_summary: z.string().optional(),
  limit: z.enum(limitNames).optional().describe('Of `limit_reached`.'),
  allowed: z.number().optional(),
  spent: z.number().optional(),
  stack: z
    .enum(['not_moved', 'archived_below'])
    .optional()
    .describe('Of a stacked task: its branch can’t be brought along, or the task below was archived before it landed.'),
  dependencies: z.array(TaskId).optional().describe('Of `dependency_failed`: those that will not be done.'),
  account: z.string().optional().describe('Of `usage_limit`: the account whose provider has limited it.'),
  resets_at: Timestamp.nullable().optional().describe('When the provider says that the limit resets.'),
  retry_at: Timestamp.optional().describe('When it continues, in the same session.'),
  doubtful: z
    .boolean()
    .optional()
    .describe('Of `usage_limit`: the reset is later than the account’s own window can make it; it is tried before.'),
})
export type ErrorAnnotation = z.infer<typeof ErrorAnnotation>

/** What a card shows of the newest review: one entry a CI step, in order. */
export const ReviewSummary = z.object({
  attempt_number: z.int(),
  status: z.enum(reviewStatuses),
  steps: z.array(z.enum(['waiting', 'running', 'passed', 'failed'])),
  approved_by: z
    .array(z.string())
    .optional()
    .describe('Whose last verdict on this attempt is `pass`: `agent:<id>`, `user:<handle>`.'),
  empty: z.boolean().optional().describe('The judged work changes nothing against its base; only where that is so.'),
  rejections: z
    .record(z.string(), z.int())
    .optional()
    .describe('By gate, how often it has sent the work back since a person last acted; only where one has.'),
})
export type ReviewSummary = z.infer<typeof ReviewSummary>

export const DiffStat = z.object({ files: z.int(), additions: z.int(), deletions: z.int() })
export type DiffStat = z.infer<typeof DiffStat>

/** The claim that happens once no dependency of the task is open. */
export const StartWhenReady = z
  .object({
    agent_id: AgentId,
    overrides: ExecutionOverrides.describe('Values of `env` are not shown.'),
    by: z.string().describe('Who wants it: `user:<handle>`, `agent:<id>`.'),
    since: Timestamp,
  })
  .meta({ id: 'StartWhenReady' })
export type StartWhenReady = z.infer<typeof StartWhenReady>

/** Limits that can't hold a run, because its agent does not tell what they are about. */
export const limitsUnenforced = z
  .array(z.enum(['usd', 'turns']))
  .optional()
  .describe(
    'Limits that do not hold its run: `usd` where the agent names no cost and no price is known, `turns` where it does not show its requests.',
  )

/** How often what a run uses is compared with the limits on it. */
export const limitsChecked = z
  .enum(['turn', 'run'])
  .optional()
  .describe(
    'Where a limit on money or turns holds its run: `turn`: the agent tells its figures after each request to its model. `run`: it tells them at its end; before that each request that can be seen counts with assumed figures.',
  )

export const Task = z
  .object({
    id: TaskId,
    project_id: ProjectId,
    number: z.int().describe('Counted within the project; no other task of it ever gets the same.'),
    ref: z.string().describe('What people call it: the key of its project and its number, like `SHO-42`.'),
    repo_id: RepoId,
    parent_id: TaskId.nullable(),
    subtask_mode: z.enum(['independent', 'ordered']).nullable(),
    title: z.string(),
    description: z.string().nullable(),
    status: z.string(),
    version: z.int().describe('Increases with every requested change; send it with a transition.'),
    entry_barrier: z.boolean(),
    review_config: ReviewConfig,
    roles: z.record(z.string(), Assignee),
    dependencies: z.array(TaskId),
    labels: z.array(z.string()),
    priority: z.int().min(0).max(4),
    position: z.number(),
    review_passed_at: Timestamp.nullable(),
    error_annotation: ErrorAnnotation.nullable(),
    external_issue_number: z.int().nullable(),
    external_issue_url: z.string().nullable(),
    archived: z.boolean(),
    active_execution_id: ExecutionId.nullable(),
    created_under: ExecutionId.nullable().describe('The run whose token made it; null when a person did.'),
    start_when_ready: StartWhenReady.nullable().describe('It starts automatically once no dependency is open.'),
    stacked_on: TaskId.nullable().describe('The task on whose branch its own begins; it lands after that one.'),
    reverts: TaskId.nullable().describe('The task whose merge this one takes back, by a commit on top of it.'),
    review_summary: ReviewSummary.nullable(),
    diff_stat: DiffStat.nullable().describe('Size of the branch against its base when last measured.'),
    port_base: z.int().nullable().describe('The first of the ten ports of the worktree that it works in.'),
    overlaps: z
      .array(TaskId)
      .describe('Tasks whose live worktrees would conflict with its own, uncommitted work included.'),
    base_conflict: BaseConflict.nullable().describe(
      'What a merge into its base would meet now, where that conflicts; null for work that would merge, and during a run.',
    ),
    pull_request: PullRequestRef.nullable().describe('The one at the forge, as told last.'),
    merged: z
      .object({
        base_branch: z.string(),
        commit: z.string().describe('The commit that the base branch was moved to.'),
        merged_at: Timestamp,
        undo_until: Timestamp.describe('Until then `tasks.unmerge` takes it back, while nothing was built on it.'),
      })
      .nullable()
      .describe('Its merge; null until its work has landed.'),
    limits_unenforced: limitsUnenforced,
    limits_checked: limitsChecked,
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'Task' })
export type Task = z.infer<typeof Task>

/**
 * The fields of a task that clients set, once: its creation and its change take theirs from here, and handlers pass on
 * whatever they get, so that a field that is added here is stored or does not compile.
 */
export const TaskFields = z.object({
  title: shownName().min(1).max(500),
  description: z.string().max(1_000_000),
  review_config: z.object({
    ci_steps: z.array(z.string().min(1)).max(100).optional(),
    review_prompt: z.string().nullable().optional(),
  }),
  labels: z.array(shownName().min(1).max(50)).max(50),
  priority: z.int().min(0).max(4),
  repo_id: RepoId,
  stacked_on: TaskId.nullable().describe(
    'Another task of the repository, on whose branch this one begins, while that one has not landed. Copse keeps it on top.',
  ),
})

/** Where something that runs in a worktree can be looked at. */
export const Preview = z
  .object({
    port_base: z.int().describe('As on the tasks that work in the worktree.'),
    port: z.int().describe('On the machine where Copse runs.'),
  })
  .meta({ id: 'Preview' })
export type Preview = z.infer<typeof Preview>

/** Another task that has to be done first. */
export const Dependency = z
  .object({ id: TaskId, title: z.string(), status: z.string(), satisfied: z.boolean() })
  .meta({ id: 'Dependency' })
export type Dependency = z.infer<typeof Dependency>

export const HookOutcome = z.object({
  phase: z.enum([...hookPhases, ...hookEvents]).describe('The phase of a state, or the lifecycle event.'),
  action: z.string().describe('The plugin’s name, or `script`.'),
  outcome: z.enum(['ok', 'failed', 'skipped', 'blocked']),
  reason: z.string().optional(),
  duration_ms: z.int(),
  log_name: z.string().optional().describe('The log that says more.'),
})
export type HookOutcome = z.infer<typeof HookOutcome>

export const TransitionEntry = z
  .object({
    id: TransitionId,
    from_state: z.string(),
    to_state: z.string(),
    triggered_by: z.string().describe('`agent:<id>`, `user:<handle>` or `system`.'),
    rejection: z.boolean(),
    trigger_reason: z.string().nullable(),
    hooks: z.array(HookOutcome),
    created_at: Timestamp,
  })
  .meta({ id: 'TransitionEntry' })
export type TransitionEntry = z.infer<typeof TransitionEntry>

/** Where this caller may move the task now, and why not elsewhere: what a drag and the move menu show. */
export const TaskMove = z
  .object({
    to: z.string(),
    label: z.string(),
    allowed: z.boolean(),
    via: z.enum(['transition', 'claim', 'verdict_fail', 'cancel']).describe('The operation that makes this move.'),
    reason: z.string().nullable(),
  })
  .meta({ id: 'TaskMove' })
export type TaskMove = z.infer<typeof TaskMove>
