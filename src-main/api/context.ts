import type { Session, User, PersonalAccessToken } from '../../src-shared/contract/identity.ts'
import type { TokenId, UserId } from '../../src-shared/contract/ids.ts'
import type { OperationName, OperationOutput, OperationRequest } from '../../src-shared/contract/operations.ts'
import type { Principal } from '../domain/access/principal.ts'
import type { Engine } from '../engine/create-engine.ts'
import type { EventFeed } from '../engine/event-feed.ts'
import type { Clock, Executors, Logs, Workspaces } from '../engine/ports.ts'
import type { ProjectRecord, Queries, Store, TaskRecord } from '../engine/store-port.ts'
import type { Workflows } from '../engine/workflows.ts'
import type { CallContext } from './api.ts'

/** What the API needs of whoever keeps accounts. */
export interface IdentityPort {
  register(input: { email: string; password: string; display_name: string }): Promise<Session>
  login(input: { email: string; password: string }, address: string | null): Promise<Session>
  refresh(refresh_token: string): Promise<Session>
  logout(refresh_token: string): void
  localSignIn(code: string): Omit<Session, 'user' | 'refresh_token'>
  localPrincipal(): Principal
  isRegistered(): boolean
  readonly tokens: {
    create(user_id: UserId, name: string): Omit<PersonalAccessToken, 'last_used_at'> & { token: string }
    list(user_id: UserId): PersonalAccessToken[]
    delete(user_id: UserId, token_id: TokenId): void
  }
  readonly users: { list(): User[]; get(id: UserId): User | null }
}

/** What every handler works with. */
export interface ApiParts {
  readonly store: Store
  readonly feed: EventFeed
  readonly engine: Engine
  readonly workflows: Workflows
  readonly identity: IdentityPort
  readonly workspaces: Workspaces
  readonly executors: Executors
  readonly logs: Logs
  readonly clock: Clock
  readonly newId: () => string
  readonly isUsablePattern: (pattern: string) => string | null
  /** Makes a small repository to play with and answers its path. */
  readonly makeSampleRepository: (signal: AbortSignal) => Promise<string>
  readonly config: { readonly version: string; readonly dataDir: string; readonly url: () => string | null }
}

/** One operation, after parsing, existence and rights. */
export type Handler<N extends OperationName> = (
  input: OperationRequest<N>,
  call: CallContext,
) => OperationOutput<N> | Promise<OperationOutput<N>>

export type Handlers<N extends OperationName = OperationName> = { readonly [K in N]: Handler<K> }

export type { ProjectRecord, Queries, TaskRecord }
