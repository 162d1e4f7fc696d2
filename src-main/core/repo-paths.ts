import type { Queries } from '../ports/store.ts'

/** Returns the paths of all projects' repositories without duplicates. */
export const repoPathsOf = (read: Pick<Queries, 'projects' | 'repos'>): ReadonlySet<string> =>
  new Set(read.projects.list().flatMap(({ id }) => read.repos.byProject(id).map(({ path }) => path)))
