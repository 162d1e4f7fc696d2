import type { ProjectId, RepoId, TaskId, TransitionId } from '../../src-shared/contract/ids.ts'
import type { LimitName } from '../../src-shared/contract/limit-names.ts'
import type { ReviewConfigChange, ReviewNote } from '../../src-shared/contract/reviews.ts'
import type { HookOutcome, Task, TransitionEntry, WorkPlace } from '../../src-shared/contract/tasks.ts'
import type { HeldRules } from '../domain/access/authority.ts'
import type { ExternalLinkRecord } from './issue-trackers.ts'
import type { TaskFilter } from './task-lists.ts'

/** What the ends of a task's runs found: notes for the next review, and places that may hold work. */
export interface RunFindings {
  readonly notes: readonly ReviewNote[]
  readonly places: readonly WorkPlace[]
  /** What the coder is told of work that could not be merged when a person took it. */
  readonly conflict?: string | null
}

/** How a base branch was moved to the work of a task. Written before the move, so that a crash does not lose it. */
export interface MergeRecord {
  readonly base_branch: string
  /** The base's commit before the move, and after it. */
  readonly from: string
  readonly to: string
  /** The commit of the task's branch that was merged. */
  readonly head: string
  /** null until the move is known to have been made. */
  readonly merged_at: string | null
  /** Who is undoing it: the base may have moved back already. */
  readonly undo: { readonly by: string } | null
}

export type TaskRecord = Omit<
  Task,
  | 'ref'
  | 'dependencies'
  | 'external_issue_number'
  | 'external_issue_url'
  | 'port_base'
  | 'overlaps'
  | 'base_conflict'
  | 'merged'
  | 'pull_request'
> & {
  /** Who last submitted the task to review: `agent:<id>` or `user:<id>`. */
  readonly context_holder: string | null
  /** A UUIDv7 of a person's last action on the task. Rejections with smaller IDs do not count. */
  readonly last_human_action_id: string | null
  /** Paths of the common git folder that changed during runs, until a person passes a review that names them. */
  readonly repository_changes: readonly string[]
  /** What runs left besides the task's branch, until a person passes a review that names it. */
  readonly run_findings: RunFindings
  /** What starts on the task without a person's word must be at least as contained: a contained run asks for it. */
  readonly held_to: HeldRules | null
  readonly review_config_changes: readonly ReviewConfigChange[]
  readonly merge: MergeRecord | null
  /** Limits that people raised for the task, and the limits it has had a warning for. */
  readonly limits: {
    readonly raises: Readonly<Partial<Record<LimitName, number>>>
    readonly warned: Readonly<Partial<Record<LimitName, number>>>
  } | null
}

export type TransitionRecord = TransitionEntry & { readonly task_id: TaskId }

export interface TaskQueries {
  get(id: TaskId): TaskRecord | null
  put(record: TaskRecord): void
  /** Inserts a new task without checking whether it exists, which saves a query for each of many. */
  add(record: TaskRecord): void
  /** Inserts new tasks in their order, as `add` would each, in less time. */
  addMany(records: readonly TaskRecord[]): void
  delete(id: TaskId): void
  list(filter: TaskFilter): readonly TaskRecord[]
  /** Returns the first tasks of a column, archived ones excluded: by position, or the latest change first. */
  ofColumn(project_id: ProjectId, status: string, order: 'position' | 'latest', limit: number): readonly TaskId[]
  /** Returns the tasks that are not archived and on which an agent works or that something blocks. */
  pressing(project_id: ProjectId): readonly TaskId[]
  /** Returns the other tasks in these states in board order: highest position first. */
  waitingIn(project_id: ProjectId, statuses: readonly string[]): readonly TaskId[]
  /** Returns the tasks with `start_when_ready`. */
  startingWhenReady(): readonly TaskId[]
  /** Returns the tasks that are stacked on another, or whose branch still lies on one. */
  stacked(): readonly TaskId[]
  /** Returns the tasks whose merge was being undone when it was last written. */
  undoingMerge(): readonly TaskId[]
  /** Returns the tasks stacked on this one, archived ones included. */
  stackedOn(task_id: TaskId): readonly TaskId[]
  /** Returns the position of the project's last task, or 0 without tasks. */
  lastPosition(project_id: ProjectId): number
  /** Returns the number for the project's next task, or the first of those for the next `count`, which are taken. */
  nextNumber(project_id: ProjectId, count?: number): number
  /** Returns the tasks above this one (`up`) or below it on a board, archived ones included, nearest first. */
  beyond(task: TaskRecord, up: boolean, limit: number): readonly Pick<TaskRecord, 'id' | 'position'>[]
  /** Returns the number of tasks per status, without archived ones. */
  countByStatus(project_id: ProjectId): ReadonlyMap<string, number>
  idsInStatus(project_id: ProjectId, status: string): readonly TaskId[]
  /** Returns up to `limit` tasks of a project, in any order. */
  someIds(project_id: ProjectId, limit: number): readonly TaskId[]
  /** Returns the tasks of a repository, finished and archived ones included. */
  idsInRepo(project_id: ProjectId, repo_id: RepoId): readonly TaskId[]
  /** Returns the subtasks of a task, by position. */
  children(parent_id: TaskId): readonly TaskRecord[]
  /** Replaces state names of all tasks, archived ones included, at once; returns the IDs of changed tasks. */
  renameStatuses(project_id: ProjectId, names: ReadonlyMap<string, string>): readonly TaskId[]
}

export interface DependencyQueries {
  of(task_id: TaskId): readonly TaskId[]
  /** Returns the tasks that depend on this one. */
  dependents(task_id: TaskId): readonly TaskId[]
  add(task_id: TaskId, depends_on_id: TaskId): void
  remove(task_id: TaskId, depends_on_id: TaskId): void
  /** Returns every dependency of a project, for the search for cycles. */
  byProject(project_id: ProjectId): readonly { readonly task_id: TaskId; readonly depends_on_id: TaskId }[]
}

export interface TransitionQueries {
  put(record: TransitionRecord): void
  setHooks(id: TransitionId, hooks: readonly HookOutcome[]): void
  get(id: TransitionId): TransitionRecord | null
  byTask(task_id: TaskId): readonly TransitionRecord[]
  last(task_id: TaskId): TransitionRecord | null
  /** Returns the rejections per gate with IDs greater than `since` (null: all), for gates that have any. */
  rejectionsByGate(task_id: TaskId, since: string | null): ReadonlyMap<string, number>
  /** Renames states in the stored transitions of a project. */
  renameStates(project_id: ProjectId, names: ReadonlyMap<string, string>): void
}

export interface ExternalLinkQueries {
  ofTask(task_id: TaskId): ExternalLinkRecord | null
  get(global_id: string): ExternalLinkRecord | null
  add(link: ExternalLinkRecord): void
  remove(global_id: string): void
}
