import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { AgentTest } from '../../src-shared/contract/agent-tests.ts'
import type {
  ActiveSession,
  AuthOptions,
  Invite,
  PersonalAccessToken,
  SecurityEventType,
  SecurityLogEntry,
  Session,
  User,
} from '../../src-shared/contract/identity.ts'
import type { InviteId, SessionId, TokenId, UserId } from '../../src-shared/contract/ids.ts'
import type { OperationName, OperationOutput, OperationRequest } from '../../src-shared/contract/operations.ts'
import type { WorkflowDefinition } from '../../src-shared/contract/workflow-definition.ts'
import type { Principal } from '../domain/access/principal.ts'
import type { RequestSource } from '../domain/access/request-source.ts'
import type { ReadDefinition } from '../domain/workflow/read-definition.ts'
import type { Engine } from '../engine/create-engine.ts'
import type { Chapters } from '../chapters/chapters.ts'
import type { DiffWatchers } from '../workspaces/diff-watches.ts'
import type { Integrations } from '../integrations/integrations.ts'
import type { EventFeed, Tx } from '../core/event-feed.ts'
import type { AgentHomes } from '../ports/agent-homes.ts'
import type { Clock } from '../ports/clock.ts'
import type { Containment } from '../ports/containment.ts'
import type { Logs } from '../ports/logs.ts'
import type { Places } from '../ports/place.ts'
import type { RepositoryReader } from '../ports/repository-reader.ts'
import type { AgentRecord } from '../ports/agent-queries.ts'
import type { ProjectRecord } from '../ports/project-queries.ts'
import type { Store } from '../ports/store.ts'
import type { Workflows } from '../core/workflows.ts'
import type { CallContext } from './api.ts'

/** Account operations that the API needs. */
interface IdentityPort {
  register(input: OperationRequest<'auth.register'>, source: RequestSource): Promise<Session>
  authOptions(source: RequestSource): Promise<AuthOptions>
  login(input: OperationRequest<'auth.login'>, source: RequestSource): Promise<Session>
  refresh(refresh_token: string, source: RequestSource): Promise<Session>
  logout(refresh_token: string, source: RequestSource): void
  localSignIn(code: string): Omit<Session, 'user' | 'refresh_token'>
  createDaemonToken(): { readonly token: string; readonly token_hash: string }
  localPrincipal(): Principal
  isRegistered(): boolean
  readonly sessions: {
    list(user_id: UserId, current: SessionId | null): ActiveSession[]
    /** Throws `not_found`, and `forbidden` for another person's session. */
    end(user_id: UserId, session_id: SessionId): void
    endOtherSessions(user_id: UserId, but: SessionId | null): void
    /** Returns a cookie's value; throws `invalid_refresh_token`. */
    remember(refresh_token: string): string
    /** Throws `invalid_refresh_token` and `refresh_token_reused`. */
    resume(cookie: string, source: RequestSource): Promise<{ readonly session: Session; readonly cookie: string }>
  }
  readonly passwords: {
    changePassword(
      user_id: UserId,
      input: OperationRequest<'auth.change_password'>,
      current: SessionId | null,
      source: RequestSource,
    ): Promise<void>
    createReset(user_id: UserId): OperationOutput<'admin.create_reset'>
  }
  readonly invites: {
    create(created_by: UserId | null, seconds: number): OperationOutput<'admin.create_invite'>
    list(): Invite[]
    delete(id: InviteId): void
  }
  readonly securityLog: {
    note(note: {
      readonly type: SecurityEventType
      readonly user_id: UserId | null
      readonly actor: string
      readonly source: RequestSource
      readonly details?: Readonly<Record<string, unknown>>
    }): void
    list(before: string | null, limit: number): SecurityLogEntry[]
  }
  readonly tokens: {
    create(
      user_id: UserId,
      token: Pick<PersonalAccessToken, 'name' | 'scope' | 'expires_at'>,
    ): OperationOutput<'auth.create_token'>
    list(user_id: UserId): PersonalAccessToken[]
    /** Returns the deleted token and its owner. `by`: the required owner; null for an admin. */
    delete(by: UserId | null, token_id: TokenId): PersonalAccessToken & { readonly user_id: UserId }
  }
  readonly users: {
    list(): User[]
    get(id: UserId): User | null
    withEmail(email: string): User | null
    /** Throws `not_found`, and `last_admin` if no other admin is left. */
    setAdmin(id: UserId, is_admin: boolean): User
  }
}

/** A workflow template as read from its file: a definition, or its problems. */
export type TemplateFile = ReadDefinition & {
  readonly name: string
  readonly description: string
  readonly builtin: boolean
}

/** Template file operations that the API needs. */
interface TemplatesPort {
  list(): Promise<readonly TemplateFile[]>
  /** Returns null if there is no such template. */
  get(name: string): Promise<TemplateFile | null>
  put(name: string, description: string, definition: WorkflowDefinition): Promise<void>
  /** Returns whether the template existed. */
  delete(name: string): Promise<boolean>
}

/** The services that handlers use. */
export interface ApiParts {
  readonly store: Store
  readonly feed: EventFeed
  readonly engine: Engine
  readonly integrations: Integrations
  readonly workflows: Workflows
  /** Changes a project's workflow inside the transaction; a refusal writes nothing. */
  readonly changeWorkflow: (tx: Tx, project: ProjectRecord, text: string) => ProjectRecord | Refusal
  readonly templates: TemplatesPort
  readonly identity: IdentityPort
  readonly places: Places
  readonly repositories: RepositoryReader
  readonly diffWatches: Pick<DiffWatchers, 'extend'>
  readonly chapters: Pick<Chapters, 'read' | 'propose'>
  readonly containment: Pick<Containment, 'status' | 'pathProblem'>
  readonly homes: AgentHomes
  /** Starts an agent once to test it. */
  readonly testAgent: (agent: AgentRecord, signal: AbortSignal) => Promise<AgentTest>
  readonly logs: Logs
  readonly clock: Clock
  readonly newId: () => string
  /** Creates a function that hides secrets, also by a project's patterns. */
  readonly redactor: (patterns: readonly string[]) => (text: string) => string
  readonly isUsablePattern: (pattern: string) => string | null
  /** Creates a small repository for trying Copse out and returns its path. */
  readonly makeSampleRepository: (files: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<string>
  readonly config: {
    readonly version: string
    readonly dataDir: string
    readonly homeDir: string
    readonly url: () => string | null
    readonly cleanupDelaySeconds: number
    /** Returns what was found wrong with the database while it is in use. */
    readonly damage: () => string | null
    /** Other machines can reach the HTTP API. */
    readonly exposed: boolean
    /** Who may create projects, repositories and agents. */
    readonly projectCreators: 'all' | 'admins'
  }
}

/** Performs one operation, after parsing and the checks of existence and rights. */
export type Handler<N extends OperationName> = (
  input: OperationRequest<N>,
  call: CallContext,
) => OperationOutput<N> | Promise<OperationOutput<N>>

export type Handlers<N extends OperationName = OperationName> = { readonly [K in N]: Handler<K> }
