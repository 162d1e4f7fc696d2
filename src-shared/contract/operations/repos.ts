import { z } from 'zod'
import { ProjectId, RepoId } from '../ids.ts'
import { del, get, list, patch, post } from '../operation.ts'
import { Repo, RepoState } from '../projects.ts'

const Path = z.string().min(1).max(4_096).describe('A folder of the repository on the machine of the service.')
const Name = z.string().trim().min(1).max(100)
const Branch = z.string().min(1).max(250).describe('What new tasks start from and merge into.')
const Primary = z.boolean().describe('Tasks that name no repository work in the primary one; a project has one.')
const one = { project_id: ProjectId, repo_id: RepoId }

export const reposOperations = {
  'repos.list': get(
    '/projects/{project_id}/repos',
    'member',
    'The project’s repositories, the primary one first, each with what is wrong with it on the disk.',
    z.object({ project_id: ProjectId }),
    list(RepoState),
  ),
  'repos.add': post(
    '/projects/{project_id}/repos',
    'owner',
    'Add a repository to a project; a task works in one of them.',
    z.object({
      project_id: ProjectId,
      path: Path,
      name: Name.optional().describe('The folder’s name without it.'),
      default_branch: Branch.optional(),
      is_primary: Primary.optional(),
    }),
    Repo,
    201,
    ['not_a_git_repository', 'repository_has_no_commits'],
  ),
  'repos.update': patch(
    '/projects/{project_id}/repos/{repo_id}',
    'owner',
    'Rename a repository, make it the primary one, give new tasks another base, or say where it was moved to: its worktrees go on there.',
    z.object({
      ...one,
      path: Path.optional(),
      name: Name.optional(),
      default_branch: Branch.optional(),
      is_primary: Primary.optional(),
    }),
    Repo,
    ['not_a_git_repository', 'repository_has_no_commits', 'project_busy', 'repo_in_use'],
  ),
  'repos.remove': del(
    '/projects/{project_id}/repos/{repo_id}',
    'owner',
    'Take a repository that no task names out of a project. Its files stay as they are.',
    z.object(one),
    ['repo_in_use'],
  ),
} as const
