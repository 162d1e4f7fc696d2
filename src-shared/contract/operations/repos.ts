import { z } from 'zod'
import { ProjectId, RepoId } from '../ids.ts'
import { del, get, list, patch, post } from '../operation.ts'
import { Repo, RepoFields, RepoState } from '../projects.ts'

const one = { project_id: ProjectId, repo_id: RepoId }

export const reposOperations = {
  'repos.list': get(
    '/projects/{project_id}/repos',
    'member',
    'The project’s repositories, the primary one first, each with what is wrong with it on the disk.',
    z.object({ project_id: ProjectId }),
    list(RepoState),
  ),
  'repos.paths': get(
    '/projects/{project_id}/paths',
    'member',
    'The paths on the base branch that fit `q`, best first: by the file’s name, then anywhere in the path.',
    z.object({
      project_id: ProjectId,
      repo_id: RepoId.optional().describe('The primary repository without it.'),
      q: z.string().max(200).default(''),
      limit: z.int().min(1).max(50).default(20),
    }),
    list(z.string()),
  ),
  'repos.build_hosts': get(
    '/projects/{project_id}/build_hosts',
    'member',
    'Hosts that builds of the project usually need: the public package registries, and where the remotes of its repositories are. ' +
      'For `allowed_hosts` of a `worktree_and_hosts`, which has them only if they are listed.',
    z.object({ project_id: ProjectId }),
    list(z.string()),
  ),
  'repos.add': post(
    '/projects/{project_id}/repos',
    'owner',
    'Add a repository to a project; a task works in one of them.',
    z.object({
      project_id: ProjectId,
      ...RepoFields.partial({ name: true, default_branch: true, is_primary: true }).shape,
      name: RepoFields.shape.name.optional().describe('The folder’s name without it.'),
    }),
    Repo,
    201,
    ['not_a_git_repository', 'repository_has_no_commits'],
  ),
  'repos.update': patch(
    '/projects/{project_id}/repos/{repo_id}',
    'owner',
    'Rename a repository, make it the primary one, give new tasks another base, or update its path: its worktrees continue there.',
    z.object({ ...one, ...RepoFields.partial().shape }),
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
