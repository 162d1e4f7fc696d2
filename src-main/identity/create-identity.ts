import { ApiError } from '../../src-shared/contract/errors.ts'
import type { AuthOptions, Session, TokenScope } from '../../src-shared/contract/identity.ts'
import type { SessionId, TokenId } from '../../src-shared/contract/ids.ts'
import type { SecretSeal } from '../platform/config/secret-seal.ts'
import type { Principal } from '../domain/access/principal.ts'
import type { RegistrationPolicy } from '../domain/access/registration.ts'
import type { RequestSource } from '../domain/access/request-source.ts'
import type { AgentTokens } from '../ports/agent-tokens.ts'
import type { Clock } from '../ports/clock.ts'
import { createAccessTokens } from './access-tokens.ts'
import type { AccessTokens } from './access-tokens.ts'
import { createAgentTokens } from './agent-tokens.ts'
import type { IdentityContext } from './context.ts'
import type { ApiTokenRecord, IdentityStore, UserRecord } from './identity-store.ts'
import { createInvites, type Invites } from './invites.ts'
import { createLocalOperator, localSessionSeconds } from './local-operator.ts'
import type { LocalOperator } from './local-operator.ts'
import { createLoginLimits } from './login-limits.ts'
import { createNoteUse } from './note-use.ts'
import { createOpaqueToken, hashToken, opaqueKindOf } from './opaque-tokens.ts'
import { createPasswords } from './passwords.ts'
import { createPersonalTokens } from './personal-tokens.ts'
import type { PersonalTokens } from './personal-tokens.ts'
import { invalidToken, missingToken, tokenExpired } from './refusals.ts'
import { createRegistration } from './registration.ts'
import type { RegistrationInput } from './registration.ts'
import { createSecurityLog, type SecurityLog } from './security-log.ts'
import { createSessions, type Sessions } from './sessions.ts'
import { createSignIn, type Credentials, type SignIn } from './sign-in.ts'
import { loadSigningKey } from './signing-key.ts'
import { createUsers, type Users } from './users.ts'

export interface IdentityOptions {
  readonly store: IdentityStore
  readonly clock: Clock
  /** Returns a new UUIDv7, greater than every one before it. */
  readonly newId: () => string
  readonly config: {
    readonly bcryptCost: number
    readonly dataDir: string
    readonly registration: RegistrationPolicy
  }
  /** Encrypts the signing key; without it only the file's mode protects it. */
  readonly seal?: SecretSeal | null
}

/** Authenticates people and agents. Every refusal is an `ApiError`. */
export interface Identity {
  /** Throws `missing_token`, `invalid_token` or `token_expired`. */
  authenticate(token: string | null): Promise<Principal>
  /** Grows whenever a session or token ends: a caller who was admitted before may not be any more. */
  endings(): number
  register(input: RegistrationInput, source: RequestSource): Promise<Session>
  /**
   * Returns the code that the first account needs, or null if none is needed, an account exists, or the code is void.
   */
  setupCode(): string | null
  /** Returns how someone from there can get in. */
  authOptions(source: RequestSource): Promise<AuthOptions>
  login(input: Credentials, source: RequestSource): Promise<Session>
  refresh(refreshToken: string, source: RequestSource): Promise<Session>
  logout(refreshToken: string, source: RequestSource): void
  readonly sessions: Pick<Sessions, 'list' | 'end' | 'endOtherSessions' | 'remember' | 'resume'>
  readonly passwords: Pick<SignIn, 'changePassword' | 'createReset'>
  readonly invites: Invites
  readonly securityLog: SecurityLog
  /** Exchanges a one-time code for a session as the local operator. */
  localSignIn(code: string): Omit<Session, 'user' | 'refresh_token'>
  createLocalCode(): string
  /** Returns the person at this machine: the operator, or the first account once there is one. */
  localPrincipal(): Principal
  /** Returns whether an account exists. */
  isRegistered(): boolean
  readonly tokens: PersonalTokens
  readonly users: Users
  readonly agentTokens: AgentTokens
  /** Creates a daemon's token and the hash to store. */
  createDaemonToken(): { readonly token: string; readonly token_hash: string }
}

/** Creates identity, with a signing key in the data folder if there is none. */
export function createIdentity({ store, clock, newId, config, seal }: IdentityOptions): Identity {
  const nowIso = () => new Date(clock.now()).toISOString()
  const context: IdentityContext = { store, clock, newId, nowIso, noteUse: createNoteUse(clock) }
  const passwords = createPasswords(config.bcryptCost)
  const accessTokens = createAccessTokens(loadSigningKey(config.dataDir, seal ?? null), clock)
  const securityLog = createSecurityLog(context)
  const sessions = createSessions(context, { accessTokens, log: securityLog })
  const invites = createInvites(context)
  const signIn = createSignIn(context, { passwords, sessions, limits: createLoginLimits(clock), log: securityLog })
  const registration = createRegistration(context, {
    passwords,
    sessions,
    invites,
    log: securityLog,
    policy: config.registration,
  })
  const local = createLocalOperator(clock)
  const localPrincipal = () => principalAtThisMachine(store)
  return {
    authenticate: createAuthenticate(context, { accessTokens, sessions, local, localPrincipal }),
    endings: () => store.endings(),
    register: registration.register,
    setupCode: registration.setupCode,
    authOptions: registration.options,
    login: signIn.login,
    refresh: sessions.refresh,
    logout: sessions.logout,
    sessions,
    passwords: signIn,
    invites,
    securityLog,
    localSignIn: (code) => ({
      access_token: local.signIn(code),
      token_type: 'Bearer',
      expires_in: localSessionSeconds,
    }),
    createLocalCode: local.createCode,
    localPrincipal,
    isRegistered: () => store.firstUserId() !== null,
    tokens: createPersonalTokens(context),
    users: createUsers(store),
    agentTokens: createAgentTokens(context),
    createDaemonToken: () => {
      const token = createOpaqueToken('svcd')
      return { token, token_hash: hashToken(token) }
    },
  }
}

interface AuthenticateParts {
  readonly accessTokens: AccessTokens
  readonly sessions: Pick<Sessions, 'isOpen'>
  readonly local: LocalOperator
  readonly localPrincipal: () => Principal
}

function createAuthenticate(context: IdentityContext, parts: AuthenticateParts): Identity['authenticate'] {
  return async (token) => {
    if (token === null || token === '') throw missingToken()
    switch (opaqueKindOf(token)) {
      case 'local':
        parts.local.check(token)
        return parts.localPrincipal()
      case 'svcd': {
        const daemon_id = context.store.daemonWithToken(hashToken(token))
        if (daemon_id === null) throw invalidToken()
        return { kind: 'daemon', daemon_id }
      }
      case 'svc':
        return principalOfApiToken(context, token)
      case null: {
        const { user_id, session_id } = await parts.accessTokens.verify(token)
        const user = context.store.users.find(user_id)
        // A valid signature of an ended session admits no one.
        if (!user || !parts.sessions.isOpen(session_id, user_id)) throw invalidToken()
        return principalOf(user, 'jwt', { session_id })
      }
    }
  }
}

function principalOfApiToken({ store, clock, noteUse }: IdentityContext, token: string): Principal {
  const row = store.apiTokens.findByHash(hashToken(token))
  if (!row || row.revoked_at !== null) throw invalidToken()
  if (row.expires_at !== null && Date.parse(row.expires_at) <= clock.now()) throw tokenExpired()
  const principal = principalOfRow(store, row)
  noteUse(row.last_used_at, (now) => {
    store.apiTokens.touch(row.id, now)
  })
  return principal
}

function principalOfRow(store: IdentityStore, row: ApiTokenRecord): Principal {
  const { agent_id, project_id, task_id, execution_id } = row
  if (agent_id && project_id && task_id && execution_id) {
    // The end may not be saved yet, and an agent that submitted its work may run on for a while.
    if (!store.isAtWork(execution_id)) throw invalidToken()
    return { kind: 'agent', agent_id, project_id, task_id, execution_id }
  }
  const user = row.user_id && store.users.find(row.user_id)
  if (!user) throw invalidToken()
  return principalOf(user, 'pat', { scope: row.scope, token_id: row.id })
}

function principalAtThisMachine(store: IdentityStore): Principal {
  const first = store.firstUserId()
  if (first === null) return { kind: 'operator' }
  const user = store.users.find(first)
  if (!user) throw new ApiError({ code: 'internal_error', message: 'The first account is missing from the database.' })
  return principalOf(user, 'local')
}

const principalOf = (
  user: UserRecord,
  via: 'jwt' | 'pat' | 'local',
  more: { readonly session_id?: SessionId; readonly scope?: TokenScope; readonly token_id?: TokenId } = {},
): Principal => ({
  kind: 'user',
  user_id: user.id,
  handle: user.handle,
  is_admin: user.is_admin,
  via,
  ...more,
})
