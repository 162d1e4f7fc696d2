import { z } from 'zod'
import { ProjectId, RepoId, TaskId } from '../ids.ts'
import { LandingLane } from '../landing.ts'
import { del, get, list, post } from '../operation.ts'

export const landingOperations = {
  'landing.list': get(
    '/projects/{project_id}/landing',
    'member',
    'The branches on which tasks land: what is known of each tip, and who waits to land there.',
    z.object({ project_id: ProjectId }),
    list(LandingLane),
  ),
  'landing.remove': del(
    '/projects/{project_id}/landing/{task_id}',
    'member_human',
    'Take a task out of its lane, back to its gate. It stays approved.',
    z.object({ project_id: ProjectId, task_id: TaskId }),
    ['not_landing'],
  ),
  'landing.check': post(
    '/projects/{project_id}/landing/check',
    'member_human',
    'Run the landing steps on the tip of a base branch, to see whether it is green. Answers once they have started.',
    z.object({
      project_id: ProjectId,
      repo_id: RepoId.optional().describe('Default: the primary repository.'),
      branch: z.string().min(1).max(250).optional().describe('Default: the repository’s default branch.'),
    }),
    z.object({ lane: LandingLane }),
    202,
    ['no_steps', 'branch_missing', 'repository_missing', 'workspace_failed'],
  ),
} as const
