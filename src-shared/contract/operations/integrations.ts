import { z } from 'zod'
import { AgentId, ProjectId, TaskId, UserId } from '../ids.ts'
import { Integration, platforms, SyncCounts, SyncFilter } from '../integrations.ts'
import { del, get, patch, post } from '../operation.ts'
import { Task } from '../tasks.ts'

const Name = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .regex(/^[^\s/?#\\%]+$/, 'Give the name alone, as it stands in the address.')
  .refine((name) => name !== '.' && name !== '..', 'Give the name alone, as it stands in the address.')

const fields = {
  platform: z.enum(platforms),
  base_url: z.string().trim().min(1).max(2_000).describe('Of the API; https, or http on this machine.'),
  owner: Name,
  repo: Name,
  token_secret_ref: z
    .string()
    .regex(/^[A-Z][A-Z0-9_]{0,127}$/, 'Give the name of an environment variable, such as GITHUB_TOKEN.'),
}
const choices = {
  poll_interval_secs: z.int().min(1).max(86_400).optional(),
  sync_filter: SyncFilter.optional(),
  default_task_state: z.string().min(1).nullable().optional(),
  default_assignee_type: z.enum(['agent', 'user']).nullable().optional(),
  default_assignee_id: z.union([AgentId, UserId]).nullable().optional(),
  enabled: z.boolean().optional(),
}
const ofProject = { project_id: ProjectId }

export const integrationsOperations = {
  'integrations.create': post(
    '/projects/{project_id}/integration',
    'owner',
    'Tie a project to an issue tracker. The first poll comes after one interval; a sync by hand comes sooner.',
    z.object({ ...ofProject, ...fields, ...choices }),
    Integration,
    201,
    ['integration_exists', 'secret_ref_forbidden', 'secret_bound'],
  ),
  'integrations.get': get(
    '/projects/{project_id}/integration',
    'member_human',
    'The project’s integration.',
    z.object(ofProject),
    Integration,
  ),
  'integrations.update': patch(
    '/projects/{project_id}/integration',
    'owner',
    'Change an integration. Another repository or filter is read from the start.',
    z.object({ ...ofProject, ...z.object(fields).partial().shape, ...choices }),
    Integration,
    ['secret_ref_forbidden', 'secret_bound'],
  ),
  'integrations.delete': del(
    '/projects/{project_id}/integration',
    'owner',
    'End an integration. Tasks and their links stay.',
    z.object(ofProject),
  ),
  'integrations.sync': post(
    '/projects/{project_id}/integration/sync',
    'member_human',
    'Import now. Answers when the cycle has ended; a cycle that runs already is joined.',
    z.object(ofProject),
    SyncCounts,
    200,
    ['integration_disabled', 'external_sync_failed', 'secret_bound'],
  ),
  'tasks.link': post(
    '/tasks/{task_id}/link',
    'task_worker',
    'Tie a task to an issue, for good: no cycle imports that issue again.',
    z.object({ task_id: TaskId, url: z.string().trim().min(1).max(2_000).describe('The issue’s page.') }),
    z.object({ task: Task }),
    201,
    ['already_linked'],
  ),
} as const
