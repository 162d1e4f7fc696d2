import type { RepositoryPrograms } from './workspaces.ts'

/** The programs that git may run in a repository: its configuration named them when it was added or trusted. */
export interface TrustedRepositoryRecord extends RepositoryPrograms {
  readonly trusted_at: string
}

export interface TrustedRepositoryQueries {
  /** By the git folder that the worktrees share. */
  get(common: string): TrustedRepositoryRecord | null
  put(record: TrustedRepositoryRecord): void
}
