import type { AccountQueries, AgentQueries, DaemonQueries } from './agent-queries.ts'
import type { AttachmentQueries } from './attachment-queries.ts'
import type { ChapterProposalQueries } from './chapter-queries.ts'
import type { CommentQueries } from './comment-queries.ts'
import type { EffectQueries, PendingHookQueries } from './effect-queries.ts'
import type { EventQueries } from './event-queries.ts'
import type { ExecutionQueries } from './execution-queries.ts'
import type { IntegrationQueries, SecretHostQueries } from './integration-queries.ts'
import type { JobQueries } from './job-queries.ts'
import type { KnowledgeQueries } from './knowledge-queries.ts'
import type { NotificationQueries } from './notification-queries.ts'
import type { BaseConflictQueries } from './base-conflict-queries.ts'
import type { OverlapQueries } from './overlap-queries.ts'
import type { RunnerQueries, RunnerTrustQueries } from './runner-queries.ts'
import type { ForgeIntentQueries, PullRequestQueries } from './pull-request-queries.ts'
import type { MemberQueries, ProjectQueries, RepoQueries, TrustedRepositoryQueries } from './project-queries.ts'
import type { BaseHealthQueries, ReviewQueries } from './review-queries.ts'
import type { DependencyQueries, ExternalLinkQueries, TaskQueries, TransitionQueries } from './task-queries.ts'
import type { TaskTemplateQueries } from './task-template-queries.ts'
import type { UsageQueries } from './usage-queries.ts'
import type { ViewedFileQueries, WorkspaceQueries } from './workspace-queries.ts'

/** All queries and writes of the engine, all synchronous. */
export interface Queries {
  readonly projects: ProjectQueries
  readonly repos: RepoQueries
  readonly trusted_repositories: TrustedRepositoryQueries
  readonly agents: AgentQueries
  readonly tasks: TaskQueries
  readonly dependencies: DependencyQueries
  readonly transitions: TransitionQueries
  readonly usage: UsageQueries
  readonly accounts: AccountQueries
  readonly executions: ExecutionQueries
  readonly reviews: ReviewQueries
  readonly base_health: BaseHealthQueries
  readonly overlaps: OverlapQueries
  readonly base_conflicts: BaseConflictQueries
  readonly workspaces: WorkspaceQueries
  readonly events: EventQueries
  readonly effects: EffectQueries
  readonly pendingHooks: PendingHookQueries
  readonly comments: CommentQueries
  readonly attachments: AttachmentQueries
  readonly task_templates: TaskTemplateQueries
  readonly knowledge: KnowledgeQueries
  readonly notifications: NotificationQueries
  /** The files of a task's changes that a reader (a user's ID, or `operator`) has viewed; deleted with the task. */
  readonly viewed_files: ViewedFileQueries
  readonly chapter_proposals: ChapterProposalQueries
  /** The host that the value of an environment variable may be sent to, by the variable's name. */
  readonly secret_hosts: SecretHostQueries
  readonly integrations: IntegrationQueries
  readonly pull_requests: PullRequestQueries
  readonly forge_intents: ForgeIntentQueries
  /** The task of each imported issue; issue IDs are compared case-insensitively. */
  readonly external_links: ExternalLinkQueries
  readonly daemons: DaemonQueries
  readonly runners: RunnerQueries
  readonly runner_trust: RunnerTrustQueries
  /** What runners elsewhere have taken; of those that are over, a day long who may still speak of them. */
  readonly jobs: JobQueries
  readonly members: MemberQueries
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
