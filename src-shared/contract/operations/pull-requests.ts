import { z } from 'zod'
import { ProjectId, TaskId } from '../ids.ts'
import { get, post } from '../operation.ts'
import { mergeMethods } from '../pull-request-names.ts'
import { IntegrationCheck, PullRequest } from '../pull-requests.ts'

const ofTask = { task_id: TaskId }
const thread = { ...ofTask, thread_id: z.string().min(1).max(500) }

export const pullRequestsOperations = {
  'integrations.check': post(
    '/projects/{project_id}/integration/check',
    'owner',
    'What the token may do at the forge, by reading alone.',
    z.object({ project_id: ProjectId }),
    IntegrationCheck,
    200,
    ['external_sync_failed', 'secret_bound'],
  ),
  'pull_requests.open': {
    ...post(
      '/tasks/{task_id}/pull_request',
      'member_human',
      'Push the judged work and open a pull request, or update the open one. Its draft state and the text outside of Copse’s block stay.',
      z.object({
        ...ofTask,
        draft: z.boolean().optional(),
        title: z.string().trim().min(1).max(1_000).optional(),
        body: z.string().max(60_000).optional().describe('The text of Copse’s block.'),
      }),
      z.object({ pull_request: PullRequest, created: z.boolean() }),
      201,
      [
        'integration_disabled',
        'pull_requests_disabled',
        'pull_request_closed',
        'review_not_ready',
        'dependency_gate',
        'nothing_to_push',
        'push_rejected',
        'external_sync_failed',
        'secret_bound',
        'workspace_failed',
        'repository_missing',
      ],
    ),
    unchanged: 'created',
  },
  'pull_requests.get': get(
    '/tasks/{task_id}/pull_request',
    'member',
    'The task’s pull request, as the forge told last.',
    z.object(ofTask),
    PullRequest,
  ),
  'pull_requests.sync': post(
    '/tasks/{task_id}/pull_request/sync',
    'member_human',
    'Ask the forge now.',
    z.object(ofTask),
    PullRequest,
    200,
    ['integration_disabled', 'external_sync_failed', 'secret_bound'],
  ),
  'pull_requests.merge': post(
    '/tasks/{task_id}/pull_request/merge',
    'member_human',
    'Merge it at the forge, at the commit that was judged last.',
    z.object({
      ...ofTask,
      method: z.enum(mergeMethods).optional(),
      when_ready: z.boolean().default(false).describe('The forge merges it once it may, by its queue or auto-merge.'),
    }),
    PullRequest,
    200,
    [
      'integration_disabled',
      'pull_request_closed',
      'dependency_gate',
      'not_mergeable',
      'not_supported',
      'external_sync_failed',
      'secret_bound',
    ],
  ),
  'pull_requests.close': post(
    '/tasks/{task_id}/pull_request/close',
    'member_human',
    'Close it without merging.',
    z.object(ofTask),
    PullRequest,
    200,
    ['integration_disabled', 'pull_request_closed', 'external_sync_failed', 'secret_bound'],
  ),
  'pull_requests.reopen': post(
    '/tasks/{task_id}/pull_request/reopen',
    'member_human',
    'Open a closed one again.',
    z.object(ofTask),
    PullRequest,
    200,
    ['integration_disabled', 'pull_request_closed', 'external_sync_failed', 'secret_bound'],
  ),
  'pull_requests.ready': post(
    '/tasks/{task_id}/pull_request/ready',
    'member_human',
    'Make a draft ready for review.',
    z.object(ofTask),
    PullRequest,
    200,
    ['integration_disabled', 'pull_request_closed', 'not_supported', 'external_sync_failed', 'secret_bound'],
  ),
  'pull_requests.reply': post(
    '/tasks/{task_id}/pull_request/threads/{thread_id}/reply',
    'task_worker',
    'Answer a thread. A run’s answer is sent with the next push.',
    z.object({ ...thread, body: z.string().trim().min(1).max(20_000), resolve: z.boolean().default(false) }),
    PullRequest,
    200,
    ['integration_disabled', 'not_supported', 'external_sync_failed', 'secret_bound'],
  ),
} as const
