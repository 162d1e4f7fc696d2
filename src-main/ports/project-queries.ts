import type { ProjectId, RepoId, TaskId, UserId } from '../../src-shared/contract/ids.ts'
import type { Member, MemberRole } from '../../src-shared/contract/members.ts'
import type { Project, ProjectSettings, Repo } from '../../src-shared/contract/projects.ts'
import type { RepositoryPrograms } from './repository-reader.ts'

export type ProjectRecord = Omit<Project, 'repos' | 'imports_issues'> & { readonly settings: Partial<ProjectSettings> }

/** What must be removed along with a deleted project. */
export interface ProjectDeletion {
  readonly delete_branches: boolean
}

export type RepoRecord = Repo & { readonly project_id: ProjectId }

export interface TrustedRepositoryQueries {
  /** By the common git folder. */
  get(common: string): TrustedRepositoryRecord | null
  put(record: TrustedRepositoryRecord): void
}

export interface ProjectQueries {
  get(id: ProjectId): ProjectRecord | null
  list(): readonly ProjectRecord[]
  /** Returns the project with this key, even while a deleted project's rows are being removed. */
  withKey(key: string): ProjectId | null
  /** Derives an unused project key from a name. */
  freeKey(name: string): string
  put(record: ProjectRecord): void
  /** Hides the project; its rows stay until `deleteRows` has removed them. */
  markDeleted(id: ProjectId, deletion: ProjectDeletion): void
  /** Returns the deleted projects that still have rows. */
  deleted(): readonly { readonly id: ProjectId; readonly deletion: ProjectDeletion }[]
  /**
   * Removes tasks of a deleted project with all that belongs to them; without tasks, up to `limit` of its other
   * rows, then the project itself. Returns whether rows may be left.
   */
  deleteRows(id: ProjectId, task_ids: readonly TaskId[], limit: number): boolean
}

export interface RepoQueries {
  get(id: RepoId): RepoRecord | null
  byProject(project_id: ProjectId): readonly RepoRecord[]
  put(record: RepoRecord): void
  delete(id: RepoId): void
}

export interface MemberQueries {
  role(project_id: ProjectId, user_id: UserId): MemberRole | null
  projectsOf(user_id: UserId): ReadonlySet<ProjectId>
  /** Returns whether an account with this ID exists. */
  isPerson(user_id: UserId): boolean
  /** In order of registration. */
  list(project_id: ProjectId): readonly Member[]
  put(project_id: ProjectId, user_id: UserId, role: MemberRole): void
  delete(project_id: ProjectId, user_id: UserId): void
}

/** The programs that git may run in a repository, as configured when it was added or trusted. */
interface TrustedRepositoryRecord extends RepositoryPrograms {
  readonly trusted_at: string
}
