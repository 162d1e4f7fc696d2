import type { ProjectId, RepoId } from '../../../src-shared/contract/ids.ts'
import type { Repo } from '../../../src-shared/contract/projects.ts'
import { findPaths } from '../../tasks/rules/find-paths.ts'
import type { RepoRecord } from '../../ports/project-queries.ts'
import type { ApiParts, Handlers } from '../context.ts'
import { unwrap, findProject, throwNotFound } from '../find.ts'

type Names = 'repos.list' | 'repos.paths' | 'repos.build_hosts' | 'repos.add' | 'repos.update' | 'repos.remove'

/** Handlers for a project's repositories. */
export function createRepoHandlers(parts: ApiParts): Handlers<Names> {
  const { read } = parts.store
  const { repositories } = parts.engine
  const find = (project_id: ProjectId, repo_id: RepoId): RepoRecord => {
    const repo = read.repos.get(repo_id)
    return repo?.project_id === project_id ? repo : throwNotFound('repo')
  }
  return {
    'repos.list': async ({ project_id }, { signal }) => ({ items: [...(await repositories.list(project_id, signal))] }),
    'repos.paths': async ({ project_id, repo_id, q, limit }, { signal }) => {
      const repo = repo_id === undefined ? read.repos.byProject(project_id)[0] : find(project_id, repo_id)
      if (!repo) throwNotFound('repo')
      const paths = await parts.repositories.trackedPaths(repo.path, repo.default_branch, { signal })
      return { items: findPaths(paths, q, limit) }
    },
    'repos.build_hosts': async ({ project_id }, { signal }) => ({
      items: [...(await repositories.buildHosts(project_id, signal))],
    }),
    'repos.add': async ({ project_id, ...wanted }, { signal }) =>
      view(unwrap(await repositories.add(findProject(read, project_id), wanted, signal))),
    'repos.update': async ({ project_id, repo_id, ...patch }, { signal }) =>
      view(unwrap(await repositories.update(find(project_id, repo_id), patch, signal))),
    'repos.remove': ({ project_id, repo_id }) => {
      const refusal = repositories.remove(find(project_id, repo_id))
      if (refusal) unwrap(refusal)
      return null
    },
  }
}

function view({ project_id: _inside, ...repo }: RepoRecord): Repo {
  return repo
}
