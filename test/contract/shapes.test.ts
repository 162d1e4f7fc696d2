import { expect, test } from 'vitest'
import type { z } from 'zod'
import { recoveryActions } from '../../src-shared/contract/action-names.ts'
import { Comment, CommentAnchor } from '../../src-shared/contract/comments.ts'
import { errorStatus } from '../../src-shared/contract/errors.ts'
import { eventPayloads } from '../../src-shared/contract/events.ts'
import * as executions from '../../src-shared/contract/executions.ts'
import { PersonalAccessToken, Session, User } from '../../src-shared/contract/identity.ts'
import { Integration } from '../../src-shared/contract/integrations.ts'
import { HookRun } from '../../src-shared/contract/lifecycle-hooks.ts'
import { operations, streams } from '../../src-shared/contract/operations.ts'
import { executorProfiles } from '../../src-shared/contract/executor-profiles.ts'
import * as projects from '../../src-shared/contract/projects.ts'
import * as reviews from '../../src-shared/contract/reviews.ts'
import * as tasks from '../../src-shared/contract/tasks.ts'
import { DryRun, WorkflowTemplate } from '../../src-shared/contract/workflow-templates.ts'
import * as workspaces from '../../src-shared/contract/workspaces.ts'
import { addresses, statuses } from './specified.ts'

/**
 * The promises to clients. Answers may contain more, never less: the contract's schemas contain all of it, and the
 * clients of the other tests reject answers that do not fit.
 */
const shapes: readonly (readonly [string, z.ZodObject, string])[] = [
  [
    'a task',
    tasks.Task,
    'id project_id repo_id parent_id subtask_mode title description status version entry_barrier review_config roles dependencies labels priority position review_passed_at error_annotation external_issue_number external_issue_url archived active_execution_id created_at updated_at',
  ],
  [
    'a new task',
    operations['tasks.create'].input,
    'title description review_config parent_id subtask_mode status labels priority repo_id',
  ],
  [
    'an edited task',
    operations['tasks.update'].input,
    'title description labels priority position review_config version',
  ],
  ['a claim', operations['tasks.claim'].input, 'agent_id overrides'],
  ['overrides', executions.ExecutionOverrides, 'prompt command model args env timeout_seconds lock_policy'],
  ['what a claim answers', operations['tasks.claim'].output, 'task execution workspace'],
  ['a transition', operations['tasks.transition'].input, 'status version reason'],
  ['what a transition answers', operations['tasks.transition'].output, 'task review'],
  ['a verdict', operations['tasks.verdict'].input, 'verdict feedback version'],
  ['what a verdict answers', operations['tasks.verdict'].output, 'task review'],
  ['a role', operations['tasks.assign_role'].input, 'agent_id user_id'],
  ['a recovery', operations['tasks.recover'].input, 'action reason'],
  ['a dependency', tasks.Dependency, 'id title status satisfied'],
  ['an entry of the audit', tasks.TransitionEntry, 'id created_at hooks from_state to_state triggered_by'],
  ['a hook of the audit', tasks.HookOutcome, 'phase action outcome reason duration_ms'],
  ['a new comment', operations['comments.create'].input, 'body parent_id anchor'],
  ['a comment', Comment, 'id body parent_id anchor'],
  ['an anchor', CommentAnchor, 'path side line'],
  ['feedback', operations['tasks.feedback'].input, 'comment_ids message'],
  ['a review', reviews.Review, 'id status attempt_number step_results verdicts created_at finished_at'],
  ['a CI step', reviews.StepResult, 'command exit_code duration_ms output_tail log_name'],
  ['a verdict of a review', reviews.Verdict, 'by verdict feedback created_at'],
  [
    'a workspace',
    workspaces.Workspace,
    'id task_id status branch path base_branch base_commit dirty ahead behind lock cleanup_at',
  ],
  ['a diff', workspaces.Diff, 'base files patch truncated'],
  ['a file of a diff', workspaces.DiffFile, 'path old_path status additions deletions binary truncated'],
  [
    'an execution',
    executions.Execution,
    'id task_id role agent_id user_id executor status exit_code prompt session_id usage started_at finished_at last_heartbeat_at',
  ],
  ['usage', executions.Usage, 'input_tokens output_tokens cost_usd'],
  ['what a stop answers', operations['executions.stop'].output, 'execution task'],
  ['a finish', operations['executions.finish'].input, 'status summary'],
  ['a log', executions.LogFile, 'name kind size updated_at'],
  [
    'the line of a hook’s log',
    HookRun,
    'event index type command plugin started_at duration_ms status exit_code reason stdout stderr',
  ],
  ['a session', Session, 'user access_token refresh_token token_type expires_in'],
  ['a person', User, 'id handle email'],
  ['a personal access token', PersonalAccessToken, 'id name created_at last_used_at'],
  ['a new project', operations['projects.create'].input, 'name repo_path default_branch workflow_template'],
  ['a project', projects.Project, 'id name owner_id paused_at workflow_definition repos created_at updated_at'],
  ['a repository', projects.Repo, 'id name path default_branch is_primary'],
  ['a new repository', operations['repos.add'].input, 'path name default_branch is_primary'],
  [
    'settings',
    projects.ProjectSettings,
    'lifecycle_hooks default_review_config redaction_patterns merge_strategy branch_prefix setup_commands copy_files max_concurrent_executions execution_timeout_seconds ci_step_timeout_seconds knowledge',
  ],
  ['a review’s settings', projects.ReviewConfig, 'ci_steps review_prompt'],
  ['an agent', projects.Agent, 'id name owner_id daemon_id executor config paused created_at'],
  ['an agent’s config', projects.AgentConfig, 'command model args env'],
  ['a new member', operations['members.add'].input, 'user_id email role'],
  ['an integration', Integration, 'id project_id last_polled_at last_error'],
  ['a template', WorkflowTemplate, 'name description builtin definition error'],
  ['a template to put', operations['templates.put'].input, 'description definition'],
  ['a dry run', DryRun, 'paths loops dead_ends stuck_gates'],
]

test.each(shapes)('gives %s the specified keys', (_what, schema, keys) => {
  expect(Object.keys(schema.shape)).toEqual(expect.arrayContaining(keys.split(' ')))
})

const words: readonly (readonly [string, readonly string[], string])[] = [
  ['how an execution stands', executions.executionStatuses, 'queued running succeeded failed cancelled stopped lost'],
  ['how a review stands', reviews.reviewStatuses, 'pending running passed failed cancelled'],
  ['how a workspace stands', workspaces.workspaceStatuses, 'creating ready cleanup_scheduled cleaned error'],
  ['what a log is of', executions.LogFile.shape.kind.options, 'agent hook ci'],
  [
    'why a task needs somebody',
    tasks.annotationTypes,
    'hook_failed execution_paused execution_failed execution_incomplete execution_lost merge_conflict retry_budget_exhausted workspace_error workspace_reset_required',
  ],
  ['a way out', recoveryActions, 'retry_hook skip_hook_once resume retry_execution retry_merge'],
  ['how a hook went', tasks.HookOutcome.shape.outcome.options, 'ok failed skipped blocked'],
  ['a scope of a diff', workspaces.diffScopes, 'uncommitted branch'],
  ['what became of a file', workspaces.DiffFile.shape.status.options, 'added modified deleted renamed'],
  ['a strategy', projects.ProjectSettings.shape.merge_strategy.options, 'merge squash rebase'],
  ['an executor profile', executorProfiles, 'claude-code codex gemini opencode acp command external'],
  [
    'an entry of a transcript',
    executions.TranscriptEntry.options.map((one) => one.shape.type.value),
    'message thinking tool_call tool_result stdout stderr usage error',
  ],
  [
    'an event',
    Object.keys(eventPayloads),
    'task.created task.updated task.transitioned task.deleted execution.started execution.finished review.updated comment.created hook.finished agent.updated project.updated transition.effect_failed',
  ],
]

test.each(words)('gives %s the specified values', (_what, known, specified) => {
  expect(known).toEqual(expect.arrayContaining(specified.split(' ')))
})

test('names in every event its project, its task if any, and its time', () => {
  for (const [type, payload] of Object.entries(eventPayloads)) {
    expect(Object.keys(payload.shape), type).toEqual(expect.arrayContaining(['project_id', 'occurred_at']))
    if (/^(?:task|execution|review|comment|workspace|hook|transition)[.]/.test(type)) {
      expect(Object.keys(payload.shape), type).toContain('task_id')
    }
  }
})

test.each(Object.entries(statuses))('has for status %s the specified codes', (status, codes) => {
  const known = Object.entries(errorStatus).flatMap(([code, its]) => (its === Number(status) ? [code] : []))
  expect(known).toEqual(expect.arrayContaining(codes.split(' ')))
})

test('answers every operation with the specified success', () => {
  const known = Object.values(operations).map(
    ({ method, path, status }) => `${method} ${path.replace(/\{\w+\}/g, '{}')} ${status}`,
  )
  for (const { path } of Object.values(streams)) known.push(`GET ${path.replace(/\{\w+\}/g, '{}')} 200`)
  expect(known).toEqual(expect.arrayContaining([...addresses]))
})

test('gives a new project the specified settings', () => {
  const { defaultProjectSettings } = projects
  const known = Object.entries(defaultProjectSettings).map(([name, value]) => `${name}:${JSON.stringify(value)}`)
  const specified =
    'redaction_patterns:[] merge_strategy:"merge" branch_prefix:"svc/" setup_commands:[] copy_files:[] max_concurrent_executions:4 execution_timeout_seconds:null ci_step_timeout_seconds:1800'
  expect(known).toEqual(expect.arrayContaining(specified.split(' ')))
  expect(defaultProjectSettings.knowledge.enabled).toBe(true)
})
