import type { Queries } from '../ports/store.ts'

/** The repositories that projects have, each once. */
export const repoPathsOf = (read: Pick<Queries, 'projects' | 'repos'>): ReadonlySet<string> =>
  new Set(read.projects.list().flatMap(({ id }) => read.repos.byProject(id).map(({ path }) => path)))
