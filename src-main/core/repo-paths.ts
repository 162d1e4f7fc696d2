import type { ProjectQueries, RepoQueries } from '../ports/project-queries.ts'

/** Returns the paths of all projects' repositories without duplicates. */
export const repoPathsOf = (read: {
  readonly projects: ProjectQueries
  readonly repos: RepoQueries
}): ReadonlySet<string> =>
  new Set(read.projects.list().flatMap(({ id }) => read.repos.byProject(id).map(({ path }) => path)))
