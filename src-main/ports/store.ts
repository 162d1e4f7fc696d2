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
import type { ReviewConfigChange } from '../../src-shared/contract/reviews.ts'
import type { HookOutcome, Task, TransitionEntry } from '../../src-shared/contract/tasks.ts'
import type { ProjectUsage, UsageSum } from '../../src-shared/contract/queue.ts'
import type { ViewedContent, Workspace } from '../../src-shared/contract/workspaces.ts'
import type { TaskFilter, TaskPlace } from './task-lists.ts'
import type { AttachmentQueries } from './attachment-queries.ts'
import type { BaseHealthQueries, ReviewQueries } from './review-queries.ts'
import type { TaskTemplateQueries } from './task-template-queries.ts'
import type { NotificationQueries } from './notification-queries.ts'
import type { ExternalLinkRecord, IntegrationRecord } from './issue-trackers.ts'
import type { Message } from '../domain/task/message.ts'
import type { RepositoryState, RepositoryPrograms } from './workspaces.ts'
import type { Effect } from '../domain/transition/effects.ts'
import type { PendingHooks } from '../domain/transition/pending-hooks.ts'

/** Rows as the engine sees them: the contract's shapes, and what stays inside. */
export type ProjectRecord = Omit<Project, 'repos' | 'imports_issues'> & { readonly settings: Partial<ProjectSettings> }
/** What goes with a project that was deleted. */
export interface ProjectDeletion {
  readonly delete_branches: boolean
}
export type RepoRecord = Repo & { readonly project_id: ProjectId }
export type AgentRecord = Agent
export type TaskRecord = Omit<
  Task,
  'ref' | 'dependencies' | 'external_issue_number' | 'external_issue_url' | 'port_base'
> & {
  /** `agent:<id>` or `user:<id>`: who last submitted it to review. */
  readonly context_holder: string | null
  /** An id (UUIDv7) of the moment when a person last acted on it (transition, verdict, claim, recovery): rejections with smaller ids do not count. */
  readonly attended_mark: string | null
  /** Paths of the common git folder that changed during runs, until a person passed a review that names them. */
  readonly repository_changes: readonly string[]
  readonly review_config_changes: readonly ReviewConfigChange[]
  /** What people raised for it, and what it was warned of at which limit. */
  readonly limits: {
    readonly raises: Readonly<Partial<Record<LimitName, number>>>
    readonly warned: Readonly<Partial<Record<LimitName, number>>>
  } | null
}
/** What a provider has told of an account. */
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
  /** What the system holds it to; null before it starts, and where Copse starts nothing. */
  readonly containment: HeldContainment | null
  readonly project_id: ProjectId
  /** Its turn has come as far as the workflow goes; it may still wait for a slot. */
  readonly dispatched: boolean
  /** `stalls`: how often in a row it was ended because nothing was heard of it. */
  readonly overrides: ExecutionOverrides & { readonly message?: Message; readonly stalls?: number | undefined }
  /** Where the parts of its prompt end; null for one from before they were kept. */
  readonly prompt_parts: readonly PromptPartSize[] | null
  readonly start_commit: string | null
  /** The repository beside its files when it started; null where nobody looked. */
  readonly repository_state: RepositoryState | null
  readonly pid: number | null
  readonly pid_started: string | null
  /** It waits until then for its provider's limit, or to be tried again. */
  readonly retry_at: string | null
  /** The place that a person gave it in the queue; null: behind all that have one, by its age. */
  readonly queue_rank: number | null
}
export type TransitionRecord = TransitionEntry & { readonly task_id: TaskId }
export type WorkspaceRecord = Omit<Workspace, 'dirty' | 'ahead' | 'behind' | 'lock'> & {
  readonly repo_path: string
  readonly created_at: string
}
export type DaemonRecord = Daemon & { readonly token_hash: string; readonly revoked_at: string | null }
export type CommentRecord = Omit<Comment, 'state'>
export type KnowledgeRecord = KnowledgeEntry
export interface KnowledgePage {
  /** The time and id of the last entry of the page before. */
  readonly after: { readonly created_at: string; readonly id: KnowledgeId } | null
  readonly limit: number
}

export type { TaskFilter, TaskPlace } from './task-lists.ts'

/** Every question and write that the engine has for the database; all synchronous. */
export interface Queries {
  readonly projects: {
    get(id: ProjectId): ProjectRecord | null
    list(): readonly ProjectRecord[]
    /** Whose the key is, also while the rows of a deleted project go. */
    withKey(key: string): ProjectId | null
    /** A key that no project has, from a name. */
    freeKey(name: string): string
    put(record: ProjectRecord): void
    /** From now on nobody finds the project; its rows stay until `deleteRows` has removed them. */
    markDeleted(id: ProjectId, deletion: ProjectDeletion): void
    /** Deleted projects that still have rows. */
    deleted(): readonly { readonly id: ProjectId; readonly deletion: ProjectDeletion }[]
    /**
     * Removes tasks of a deleted project with all that belongs to them; without tasks, at most so many of its other
     * rows, and at last the project itself. Answers whether anything may be left.
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
    /** Writes a task that is new; where many are made, the look whether there is one is saved. */
    add(record: TaskRecord): void
    delete(id: TaskId): void
    list(filter: TaskFilter): readonly TaskRecord[]
    /** Every task of the project that is not archived, in the order of a board: the highest position first. */
    places(project_id: ProjectId): readonly TaskPlace[]
    /** The position that puts a new task behind all others. */
    /** Tasks that start by themselves once they can. */
    startingWhenReady(): readonly TaskId[]
    lastPosition(project_id: ProjectId): number
    /** The number of the next task of the project; each call gives another. */
    nextNumber(project_id: ProjectId): number
    /** The tasks of its project above this one (`up`) or below it on a board, archived ones too, nearest first. */
    beyond(task: TaskRecord, up: boolean, limit: number): readonly Pick<TaskRecord, 'id' | 'position'>[]
    /** How many tasks that are not archived stand in each status. */
    countByStatus(project_id: ProjectId): ReadonlyMap<string, number>
    idsInStatus(project_id: ProjectId, status: string): readonly TaskId[]
    /** The first so many tasks of a project, in any order. */
    someIds(project_id: ProjectId, limit: number): readonly TaskId[]
    /** Those that work in a repository, finished and archived ones too. */
    idsInRepo(project_id: ProjectId, repo_id: RepoId): readonly TaskId[]
    /** The subtasks of a task, by position. */
    children(parent_id: TaskId): readonly TaskRecord[]
    /** Puts tasks, archived ones too, from old state names to new ones, all at once; the ids of those that changed. */
    renameStatuses(project_id: ProjectId, names: ReadonlyMap<string, string>): readonly TaskId[]
  }
  readonly dependencies: {
    of(task_id: TaskId): readonly TaskId[]
    /** Those that wait for this task. */
    dependents(task_id: TaskId): readonly TaskId[]
    add(task_id: TaskId, depends_on_id: TaskId): void
    remove(task_id: TaskId, depends_on_id: TaskId): void
    /** Every pair of a project, for the search for cycles. */
    byProject(project_id: ProjectId): readonly { readonly task_id: TaskId; readonly depends_on_id: TaskId }[]
  }
  readonly transitions: {
    put(record: TransitionRecord): void
    setHooks(id: TransitionId, hooks: readonly HookOutcome[]): void
    get(id: TransitionId): TransitionRecord | null
    byTask(task_id: TaskId): readonly TransitionRecord[]
    last(task_id: TaskId): TransitionRecord | null
    /** How many rejections left each gate with an id greater than `since` (null: all); gates without any are left out. */
    rejectionsByGate(task_id: TaskId, since: string | null): ReadonlyMap<string, number>
    /** The audit of a project follows when its states get other names. */
    renameStates(project_id: ProjectId, names: ReadonlyMap<string, string>): void
  }
  /** What agents have reported to have used. */
  readonly usage: {
    ofTask(task_id: TaskId): UsageSum
    ofProject(project_id: ProjectId): ProjectUsage
    /** How many runs an agent had in a project that told anything, and how many of them what they cost. */
    ofAgent(project_id: ProjectId, agent_id: AgentId): { readonly executions: number; readonly costs: number }
    /** What agents have spent since a time: in all, or of one task, project or agent. A run counts to the day of its start. */
    spent(scope: SpentScope, now: string): SpentSum
  }
  readonly accounts: {
    get(account: string): AccountRecord | null
    list(): readonly AccountRecord[]
    put(record: AccountRecord): void
  }
  readonly executions: {
    get(id: ExecutionId): ExecutionRecord | null
    put(record: ExecutionRecord): void
    byTask(task_id: TaskId): readonly ExecutionRecord[]
    /** Queued and running ones, oldest first. */
    open(project_id?: ProjectId): readonly ExecutionRecord[]
    /** The same of all projects or one, in short. */
    queue(project_id?: ProjectId): readonly OpenExecution[]
    openOfTask(task_id: TaskId): readonly ExecutionRecord[]
    lastOf(task_id: TaskId, role: string): ExecutionRecord | null
  }
  readonly reviews: ReviewQueries
  readonly base_health: BaseHealthQueries
  readonly workspaces: {
    put(record: WorkspaceRecord): void
    byTask(task_id: TaskId): WorkspaceRecord | null
    delete(id: WorkspaceId): void
    /** Those whose clean-up is due at `now` (ISO) or before; with null, all that are scheduled. */
    toClean(now: string | null): readonly WorkspaceRecord[]
    byProject(project_id: ProjectId): readonly WorkspaceRecord[]
    paths(): readonly string[]
    /** The first ports of the ranges that worktrees have. */
    portBases(): ReadonlySet<number>
  }
  readonly events: {
    /** Numbers the event, keeps it and answers it whole. */
    append<T extends EventType>(type: T, project_id: ProjectId | null, data: unknown): EventEnvelope
    after(seq: number, limit: number): readonly EventEnvelope[]
    /** The numbers that are kept: `first` is 0 when nothing is. */
    range(): { readonly first: number; readonly last: number }
    /** Forgets the first few beyond the last `keep`; answers whether there are more. */
    trim(keep: number): boolean
  }
  readonly effects: EffectQueries
  readonly pendingHooks: PendingHookQueries
  readonly comments: {
    get(id: CommentId): CommentRecord | null
    put(record: CommentRecord): void
    /** With all answers to it, and theirs. */
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
    list(project_id: ProjectId, page: KnowledgePage): readonly KnowledgeRecord[]
    /** The entries that share words with `text`, the most relevant first (bm25); any text is safe. */
    search(project_id: ProjectId, text: string, page: { offset: number; limit: number }): readonly KnowledgeRecord[]
    /** What was captured from a task, so that capturing again replaces it. */
    bySourceTask(task_id: TaskId): KnowledgeRecord | null
    /** What the agents of a task are to be told, until it is injected anew; null takes it away. */
    setInjected(task_id: TaskId, text: string | null): void
    injected(task_id: TaskId): string | null
  }
  readonly notifications: NotificationQueries
  /** What a reader (a user's id, or `operator`) has looked at of a task's changes; gone with the task. */
  readonly viewed_files: {
    of(task_id: TaskId, reader: string): readonly ViewedContent[]
    /** In place of what the reader had looked at under this path. */
    put(task_id: TaskId, reader: string, file: ViewedContent): void
    remove(task_id: TaskId, reader: string, path: string): void
    /** One reader's marks become another's. */
    passOn(from: string, to: string): void
  }
  /** By the name of an environment variable, the host that its value may be sent to. */
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
  /** Which task stands for which issue; ids of issues are compared without regard to case. */
  readonly external_links: {
    ofTask(task_id: TaskId): ExternalLinkRecord | null
    get(global_id: string): ExternalLinkRecord | null
    add(link: ExternalLinkRecord): void
    remove(global_id: string): void
  }
  readonly daemons: {
    /** Also a revoked one. */
    get(id: DaemonId): DaemonRecord | null
    /** Those that are not revoked, oldest first. */
    list(): readonly DaemonRecord[]
    put(record: DaemonRecord): void
  }
  readonly members: {
    role(project_id: ProjectId, user_id: UserId): MemberRole | null
    projectsOf(user_id: UserId): ReadonlySet<ProjectId>
    /** Whether somebody with this id has registered. */
    isPerson(user_id: UserId): boolean
    /** In the order of their registration. */
    list(project_id: ProjectId): readonly Member[]
    put(project_id: ProjectId, user_id: UserId, role: MemberRole): void
    delete(project_id: ProjectId, user_id: UserId): void
  }
}

export type SpentScope =
  | { readonly task_id: TaskId }
  | { readonly project_id: ProjectId; readonly since: string }
  | { readonly agent_id: AgentId; readonly since: string }

export interface SpentSum {
  readonly executions: number
  readonly usd: number | null
  readonly minutes: number
  /** How many ended runs have not told what they cost. */
  readonly unknown: number
}

export interface Store {
  /** Outside a transaction: for reading. */
  readonly read: Queries
  /** One synchronous transaction; what `work` throws rolls all of it back. */
  write<T>(work: (q: Queries) => T): T
  /**
   * Runs steps that write a lot in all, without keeping other writes waiting for the disk: `checkpoint` belongs between them
   * now and then.
   */
  heavy<T>(work: (checkpoint: () => Promise<void>) => Promise<T>): Promise<T>
  /** Gives free pages of the file back to the disk, a few at a time; answers whether there are more to give. */
  shrink(): boolean
  close(): void
}

/** As much of a queued or running execution as the queue asks for: no prompt, which may be large, is read for it. */
export type OpenExecution = Pick<Execution, 'id' | 'task_id' | 'role' | 'agent_id' | 'status' | 'created_at'> & {
  readonly retry_at: string | null
  readonly queue_rank: number | null
  readonly project_id: ProjectId
  readonly dispatched: boolean
  /** It brings a person's message. */
  readonly is_message: boolean
}

/** A step of a transition that is still to be done. */
export interface EffectRecord {
  readonly id: number
  readonly task_id: TaskId
  readonly data: Effect
}

/** What the workflow is still to be told of. */
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

/** The programs that git may run in a repository: its configuration named them when it was added or trusted. */
interface TrustedRepositoryRecord extends RepositoryPrograms {
  readonly trusted_at: string
}

interface TrustedRepositoryQueries {
  /** By the git folder that the worktrees share. */
  get(common: string): TrustedRepositoryRecord | null
  put(record: TrustedRepositoryRecord): void
}
