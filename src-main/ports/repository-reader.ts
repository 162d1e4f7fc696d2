import type { RepositoryRunKind } from '../../src-shared/contract/projects.ts'
import type { Cancellable } from './cancellable.ts'

export interface RepositoryInfo {
  /** Absolute path of the main worktree's root (or of the bare repository). */
  readonly root: string
  readonly name: string
  readonly default_branch: string
  readonly branches: readonly string[]
}

/** Settings of a repository that make git run a program, by key, and hashes of its hooks by `hook {name}`. */
export type ConfiguredPrograms = Readonly<Record<string, string>>

export interface RepositoryRun {
  readonly kind: RepositoryRunKind
  readonly what: string
}

/** A repository, identified by its common git folder, and the programs that its settings make git run. */
export interface RepositoryPrograms {
  readonly common: string
  readonly programs: ConfiguredPrograms
}

/** A folder that could become a project. */
export interface NearbyRepository {
  readonly path: string
  readonly name: string
  /** Time of the last work there. */
  readonly changed_at: string
}

/** Finds repositories and reads what they are and would run. */
export interface RepositoryReader {
  /** Throws `WorkspaceError` with code `not_a_git_repository` or `repository_has_no_commits`. */
  inspect(path: string, options: Cancellable): Promise<RepositoryInfo>
  /** Lists repositories in the usual places below a home folder, most recently used first. Starts no git. */
  nearby(home: string, options: Cancellable): Promise<readonly NearbyRepository[]>
  /** Lists the paths that a branch tracks; empty if there is no such branch. */
  trackedPaths(repo_path: string, branch: string, options: Cancellable): Promise<readonly string[]>
  /** Returns the URLs of a repository's remotes, to fetch from and to push to. */
  remoteUrls(repo_path: string, options: Cancellable): Promise<readonly string[]>
  /** Reads the programs that a repository's own settings make git run. */
  programs(repo_path: string, options: Cancellable): Promise<RepositoryPrograms>
  /** Lists everything that a repository's settings and hooks would make git run, for people. */
  runs(repo_path: string, options: Cancellable): Promise<readonly RepositoryRun[]>
}
