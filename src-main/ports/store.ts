import type { Comment } from '../../src-shared/contract/comments.ts'
import type { Daemon } from '../../src-shared/contract/daemons.ts'
import type { EventEnvelope, EventType } from '../../src-shared/contract/events.ts'
import type { AccountWindow } from '../../src-shared/contract/accounts.ts'
import type { ExecutorProfile } from '../../src-shared/contract/executor-profiles.ts'
import type { LimitName } from '../../src-shared/contract/limit-names.ts'
import type { HeldContainment } from '../../src-shared/contract/containment.ts'
import type { Execution, ExecutionOverrides } from '../../src-shared/contract/executions.ts'
import type {
  AgentId,
  CommentId,
  DaemonId,
  ExecutionId,
  IntegrationId,
  KnowledgeId,
  ProjectId,
  RepoId,
  TaskId,
  TransitionId,
  UserId,
  WorkspaceId,
} from '../../src-shared/contract/ids.ts'
import type { KnowledgeEntry } from '../../src-shared/contract/knowledge.ts'
import type { Member, MemberRole } from '../../src-shared/contract/members.ts'
import type { Agent, Project, ProjectSettings, Repo } from '../../src-shared/contract/projects.ts'
import type { PromptPartSize } from '../../src-shared/contract/prompts.ts'
import type { ReviewConfigChange, ReviewNote } from '../../src-shared/contract/reviews.ts'
import type { HookOutcome, Task, TransitionEntry, WorkPlace } from '../../src-shared/contract/tasks.ts'
import type { ViewedContent, Workspace } from '../../src-shared/contract/workspaces.ts'
import type { HeldRules } from '../domain/access/authority.ts'
import type { StackPlace } from './stack-place.ts'
import type { TaskFilter } from './task-lists.ts'
import type { AttachmentQueries } from './attachment-queries.ts'
import type { OverlapQueries } from './overlap-queries.ts'
import type { BaseHealthQueries, ReviewQueries } from './review-queries.ts'
import type { TaskTemplateQueries } from './task-template-queries.ts'
import type { UsageQueries } from './usage-queries.ts'
import type { NotificationQueries } from './notification-queries.ts'
import type { ExternalLinkRecord, IntegrationRecord } from './issue-trackers.ts'
import type { Message } from '../domain/task/message.ts'
import type { RepositoryState, RepositoryPrograms } from './workspaces.ts'
import type { Effect } from '../domain/transition/effects.ts'
import type { PendingHooks } from '../domain/transition/pending-hooks.ts'

/** Rows as the engine sees them: the contract's shapes with private fields. */
export type ProjectRecord = Omit<Project, 'repos' | 'imports_issues'> & { readonly settings: Partial<ProjectSettings> }
/** What must be removed along with a deleted project. */
export interface ProjectDeletion {
  readonly delete_branches: boolean
}
export type RepoRecord = Repo & { readonly project_id: ProjectId }
export type AgentRecord = Agent
/** What the ends of a task's runs found: notes for the next review, and places that may hold work. */
export interface RunFindings {
  readonly notes: readonly ReviewNote[]
  readonly places: readonly WorkPlace[]
  /** What the coder is told of work that could not be merged when a person took it. */
  readonly conflict?: string | null
}
export type TaskRecord = Omit<
  Task,
  'ref' | 'dependencies' | 'external_issue_number' | 'external_issue_url' | 'port_base' | 'overlaps'
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
  /** Limits that people raised for the task, and the limits it has had a warning for. */
  readonly limits: {
    readonly raises: Readonly<Partial<Record<LimitName, number>>>
    readonly warned: Readonly<Partial<Record<LimitName, number>>>
  } | null
}
/** What a provider has reported of an account. */
export interface AccountRecord {
  readonly account: string
  readonly executor: ExecutorProfile
  readonly limited_until: string | null
  readonly resets_at: string | null
  readonly tries: number
  readonly windows: readonly AccountWindow[]
  readonly told_at: string
}
export type ExecutionRecord = Omit<Execution, 'message' | 'retry_at' | 'containment'> & {
  /** The containment that applies; null before the start, and for agents that Copse does not start. */
  readonly containment: HeldContainment | null
  readonly project_id: ProjectId
  /** The workflow allows the run to start; it may still wait for a free slot. */
  readonly dispatched: boolean
  /** `stalls`: how many times in a row it was stopped because it was silent. */
  readonly overrides: ExecutionOverrides & { readonly message?: Message; readonly stalls?: number | undefined }
  /** End offsets of the prompt's parts; null for prompts from before they were stored. */
  readonly prompt_parts: readonly PromptPartSize[] | null
  readonly start_commit: string | null
  /** State of the repository besides its files at the start; null if it was not read. */
  readonly repository_state: RepositoryState | null
  readonly pid: number | null
  readonly pid_started: string | null
  /** The run waits until then, for its provider's limit or a retry. */
  readonly retry_at: string | null
  /** The rank that a person gave it in the queue; null: after all ranked ones, by age. */
  readonly queue_rank: number | null
}
export type TransitionRecord = TransitionEntry & { readonly task_id: TaskId }
export type WorkspaceRecord = Omit<Workspace, 'dirty' | 'ahead' | 'behind' | 'lock'> & {
  readonly repo_path: string
  readonly stack: StackPlace | null
  readonly created_at: string
}
export type DaemonRecord = Daemon & { readonly token_hash: string; readonly revoked_at: string | null }
export type CommentRecord = Omit<Comment, 'state'>
export type KnowledgeRecord = KnowledgeEntry
/** Which entries a reader gets. */
export interface KnowledgeFilter {
  readonly status: KnowledgeRecord['status']
  /** Only what came from this task; null: all. */
  readonly task_id: TaskId | null
}
export interface KnowledgePage {
  /** `created_at` and ID of the last entry of the page before. */
  readonly after: { readonly created_at: string; readonly id: KnowledgeId } | null
  readonly limit: number
}

export type { TaskFilter } from './task-lists.ts'

/** All queries and writes of the engine, all synchronous. */
export interface Queries {
  readonly projects: {
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
  readonly repos: {
    get(id: RepoId): RepoRecord | null
    byProject(project_id: ProjectId): readonly RepoRecord[]
    put(record: RepoRecord): void
    delete(id: RepoId): void
  }
  readonly trusted_repositories: TrustedRepositoryQueries
  readonly agents: {
    get(id: AgentId): AgentRecord | null
    list(): readonly AgentRecord[]
    put(record: AgentRecord): void
    delete(id: AgentId): void
  }
  readonly tasks: {
    get(id: TaskId): TaskRecord | null
    put(record: TaskRecord): void
    /** Inserts a new task without checking whether it exists, which saves a query for each of many. */
    add(record: TaskRecord): void
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
  readonly dependencies: {
    of(task_id: TaskId): readonly TaskId[]
    /** Returns the tasks that depend on this one. */
    dependents(task_id: TaskId): readonly TaskId[]
    add(task_id: TaskId, depends_on_id: TaskId): void
    remove(task_id: TaskId, depends_on_id: TaskId): void
    /** Returns every dependency of a project, for the search for cycles. */
    byProject(project_id: ProjectId): readonly { readonly task_id: TaskId; readonly depends_on_id: TaskId }[]
  }
  readonly transitions: {
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
  readonly usage: UsageQueries
  readonly accounts: {
    get(account: string): AccountRecord | null
    list(): readonly AccountRecord[]
    put(record: AccountRecord): void
  }
  readonly executions: {
    get(id: ExecutionId): ExecutionRecord | null
    put(record: ExecutionRecord): void
    byTask(task_id: TaskId): readonly ExecutionRecord[]
    /** Returns queued and running executions, oldest first. */
    open(project_id?: ProjectId): readonly ExecutionRecord[]
    /** Returns the same without large fields, of one project or all. */
    queue(project_id?: ProjectId): readonly OpenExecution[]
    openOfTask(task_id: TaskId): readonly ExecutionRecord[]
    lastOf(task_id: TaskId, role: string): ExecutionRecord | null
  }
  readonly reviews: ReviewQueries
  readonly base_health: BaseHealthQueries
  readonly overlaps: OverlapQueries
  readonly workspaces: {
    put(record: WorkspaceRecord): void
    byTask(task_id: TaskId): WorkspaceRecord | null
    delete(id: WorkspaceId): void
    /** Returns the workspaces whose clean-up is due at `now` (ISO); with null, all that are scheduled. */
    toClean(now: string | null): readonly WorkspaceRecord[]
    byProject(project_id: ProjectId): readonly WorkspaceRecord[]
    /** Those with a worktree whose task is not archived. */
    present(): readonly { readonly workspace: WorkspaceRecord; readonly task: TaskRecord }[]
    paths(): readonly string[]
    /** Returns the first port of each worktree's range. */
    portBases(): ReadonlySet<number>
  }
  readonly events: {
    /** Numbers and stores the event, and returns it complete. */
    append<T extends EventType>(type: T, project_id: ProjectId | null, data: unknown): EventEnvelope
    after(seq: number, limit: number): readonly EventEnvelope[]
    /** Returns the stored numbers; `first` is 0 if there are none. */
    range(): { readonly first: number; readonly last: number }
    /** Deletes a few of the oldest events beyond the last `keep`; returns whether more are left. */
    trim(keep: number): boolean
  }
  readonly effects: EffectQueries
  readonly pendingHooks: PendingHookQueries
  readonly comments: {
    get(id: CommentId): CommentRecord | null
    put(record: CommentRecord): void
    /** Deletes the comment with all replies. */
    delete(id: CommentId): void
    /** Oldest first. */
    byTask(task_id: TaskId): readonly CommentRecord[]
  }
  readonly attachments: AttachmentQueries
  readonly task_templates: TaskTemplateQueries
  readonly knowledge: {
    get(id: KnowledgeId): KnowledgeRecord | null
    put(record: KnowledgeRecord): void
    delete(id: KnowledgeId): void
    /** Newest first. */
    list(project_id: ProjectId, filter: KnowledgeFilter, page: KnowledgePage): readonly KnowledgeRecord[]
    /** Returns the entries that share words with `text`, most relevant first (bm25); any text is safe. */
    search(
      project_id: ProjectId,
      text: string,
      filter: KnowledgeFilter,
      page: { offset: number; limit: number },
    ): readonly KnowledgeRecord[]
    /** Returns the entry captured from a task, so that a new capture replaces it. */
    bySourceTask(task_id: TaskId): KnowledgeRecord | null
    /** Sets the knowledge for a task's agents until the next injection; null removes it. */
    setInjected(task_id: TaskId, text: string | null): void
    injected(task_id: TaskId): string | null
  }
  readonly notifications: NotificationQueries
  /** The files of a task's changes that a reader (a user's ID, or `operator`) has viewed; deleted with the task. */
  readonly viewed_files: {
    of(task_id: TaskId, reader: string): readonly ViewedContent[]
    /** Replaces what the reader had viewed under this path. */
    put(task_id: TaskId, reader: string, file: ViewedContent): void
    remove(task_id: TaskId, reader: string, path: string): void
    /** Transfers the marks of one reader to another. */
    passOn(from: string, to: string): void
  }
  /** The host that the value of an environment variable may be sent to, by the variable's name. */
  readonly secret_hosts: {
    get(name: string): string | null
    put(name: string, host: string): void
  }
  readonly integrations: {
    byProject(project_id: ProjectId): IntegrationRecord | null
    list(): readonly IntegrationRecord[]
    put(record: IntegrationRecord): void
    delete(id: IntegrationId): void
  }
  /** The task of each imported issue; issue IDs are compared case-insensitively. */
  readonly external_links: {
    ofTask(task_id: TaskId): ExternalLinkRecord | null
    get(global_id: string): ExternalLinkRecord | null
    add(link: ExternalLinkRecord): void
    remove(global_id: string): void
  }
  readonly daemons: {
    /** Includes revoked daemons. */
    get(id: DaemonId): DaemonRecord | null
    /** Returns daemons that are not revoked, oldest first. */
    list(): readonly DaemonRecord[]
    put(record: DaemonRecord): void
  }
  readonly members: {
    role(project_id: ProjectId, user_id: UserId): MemberRole | null
    projectsOf(user_id: UserId): ReadonlySet<ProjectId>
    /** Returns whether an account with this ID exists. */
    isPerson(user_id: UserId): boolean
    /** In order of registration. */
    list(project_id: ProjectId): readonly Member[]
    put(project_id: ProjectId, user_id: UserId, role: MemberRole): void
    delete(project_id: ProjectId, user_id: UserId): void
  }
}

export interface Store {
  /** Queries outside a transaction. */
  readonly read: Queries
  /** Runs one synchronous transaction; it is rolled back if `work` throws. */
  write<T>(work: (q: Queries) => T): T
  /** Writes the journal into the file, beside the event loop; after many writes the next ones need it done. */
  checkpoint(): Promise<void>
  /** Returns a few free pages of the file to the disk; returns whether more are left. */
  shrink(): boolean
  close(): void
}

/** The fields of a queued or running execution that the queue needs, without the prompt, which may be large. */
export type OpenExecution = Pick<Execution, 'id' | 'task_id' | 'role' | 'agent_id' | 'status' | 'created_at'> & {
  readonly retry_at: string | null
  readonly queue_rank: number | null
  readonly project_id: ProjectId
  readonly dispatched: boolean
  /** The execution delivers a person's message. */
  readonly is_message: boolean
}

/** Pending steps of a transition. */
export interface EffectRecord {
  readonly id: number
  readonly task_id: TaskId
  readonly data: Effect
}

/** Hooks of an event that are still to run. */
export interface PendingHooksRecord {
  readonly id: number
  readonly task_id: TaskId
  readonly data: PendingHooks
}

interface EffectQueries {
  add(task_id: TaskId, data: Effect): number
  update(id: number, data: Effect): void
  remove(id: number): void
  removeOfTask(task_id: TaskId): void
  first(task_id: TaskId): EffectRecord | null
  pendingTasks(): readonly TaskId[]
  ofProject(project_id: ProjectId): readonly EffectRecord[]
}

interface PendingHookQueries {
  add(task_id: TaskId, data: PendingHooks): void
  update(id: number, data: PendingHooks): void
  remove(id: number): void
  get(id: number): PendingHooksRecord | null
  /** Oldest first. */
  ofTask(task_id: TaskId): readonly PendingHooksRecord[]
  pendingTasks(): readonly TaskId[]
}

/** The programs that git may run in a repository, as configured when it was added or trusted. */
interface TrustedRepositoryRecord extends RepositoryPrograms {
  readonly trusted_at: string
}

interface TrustedRepositoryQueries {
  /** By the common git folder. */
  get(common: string): TrustedRepositoryRecord | null
  put(record: TrustedRepositoryRecord): void
}
