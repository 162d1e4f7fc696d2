import { z } from 'zod'
import { ProjectId, TaskId } from '../ids.ts'
import { Integration, IntegrationFields, SyncCounts } from '../integrations.ts'
import { del, get, patch, post } from '../operation.ts'
import { Task } from '../tasks.ts'

const ofProject = { project_id: ProjectId }

export const integrationsOperations = {
  'integrations.create': post(
    '/projects/{project_id}/integration',
    'owner',
    'Tie a project to an issue tracker. The first poll comes after one interval; a sync by hand comes sooner.',
    z.object({ ...ofProject, ...IntegrationFields.shape }),
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
    z.object({ ...ofProject, ...IntegrationFields.partial().shape }),
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
    'Link a task to an issue permanently: no sync imports that issue again.',
    z.object({ task_id: TaskId, url: z.string().trim().min(1).max(2_000).describe('The issue’s page.') }),
    z.object({ task: Task }),
    201,
    ['already_linked'],
  ),
} as const
