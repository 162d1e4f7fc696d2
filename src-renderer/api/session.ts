import { ApiError, type ErrorCode } from '../../src-shared/contract/errors.ts'
import type { Session as SessionPair } from '../../src-shared/contract/identity.ts'
import type { OperationInput, OperationName, OperationOutput } from '../../src-shared/contract/operations.ts'

/** `local`: the person at this machine; nobody signed in with a password. */
export type SessionState =
  | { readonly kind: 'starting' }
  | { readonly kind: 'signed_out'; readonly reason: string | null }
  | { readonly kind: 'signed_in'; readonly as: 'local' | 'account' }

/** Who this page is to the service, and how it stays so. */
export interface Session {
  readonly state: SessionState
  /** The access token to send, or null. */
  token(): string | null
  /** Takes the one-time code from the address, else the token that this tab kept; ends the state `starting`. */
  start(): Promise<void>
  login(input: OperationInput<'auth.login'>): Promise<void>
  register(input: OperationInput<'auth.register'>): Promise<void>
  logout(): Promise<void>
  /** A call was refused for its token: refreshes once, else signs out. */
  rejected(code: ErrorCode): Promise<void>
  onChange(listener: () => void): void
}

type Call = <N extends OperationName>(name: N, input: OperationInput<N>) => Promise<OperationOutput<N>>

/** What the session needs of the browser; tests bring their own. */
export interface SessionHost {
  readonly storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>
  readonly address: { readonly hash: string; clearHash(): void }
  now(): number
  /** Calls back after `ms`; returns what cancels it. */
  later(ms: number, callback: () => void): () => void
}

const storageKey = 'copse.local-token'
/** Refresh this long before the access token ends. */
const refreshMargin = 60_000
/** The codes that mean: this token is of no use any more. */
const tokenCodes: readonly ErrorCode[] = ['missing_token', 'invalid_token', 'token_expired']

/** The window needs no sign-in: whoever sits at it is the local operator. */
export function createWindowSession(): Session {
  const state: SessionState = { kind: 'signed_in', as: 'local' }
  const nothing = async (): Promise<void> => undefined
  return {
    state,
    token: () => null,
    start: nothing,
    login: nothing,
    register: nothing,
    logout: nothing,
    rejected: nothing,
    onChange: () => undefined,
  }
}

/** A browser's session: tokens in memory, except the local operator's, which this tab keeps over a reload. */
export function createWebSession(call: Call, host: SessionHost): Session {
  let state: SessionState = { kind: 'starting' }
  let accessToken: string | null = null
  let refreshToken: string | null = null
  let cancelTimer: () => void = () => undefined
  let refreshing: Promise<void> | null = null
  const listeners: (() => void)[] = []

  function become(next: SessionState): void {
    state = next
    for (const listener of listeners) listener()
  }
  function forget(reason: string | null): void {
    cancelTimer()
    accessToken = null
    refreshToken = null
    host.storage.removeItem(storageKey)
    become({ kind: 'signed_out', reason })
  }
  function keepLocal(token: string, endsAt: number): void {
    accessToken = token
    cancelTimer()
    cancelTimer = host.later(endsAt - host.now(), () => forget('This local session has ended. Start Copse again.'))
    become({ kind: 'signed_in', as: 'local' })
  }
  function keepPair(pair: SessionPair): void {
    accessToken = pair.access_token
    refreshToken = pair.refresh_token
    cancelTimer()
    cancelTimer = host.later(Math.max(1_000, pair.expires_in * 1_000 - refreshMargin), () => void refresh())
    become({ kind: 'signed_in', as: 'account' })
  }
  function refresh(): Promise<void> {
    refreshing ??= exchange().finally(() => (refreshing = null))
    return refreshing
  }
  async function exchange(): Promise<void> {
    if (refreshToken === null) return forget('Sign in again to go on.')
    try {
      keepPair(await call('auth.refresh', { refresh_token: refreshToken }))
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return forget('Your session has ended. Sign in again.')
      // The service is away: the token may still be good when it is back.
      cancelTimer = host.later(5_000, () => void refresh())
    }
  }

  return {
    get state() {
      return state
    },
    token: () => accessToken,
    async start() {
      const code = new URLSearchParams(host.address.hash.replace(/^#/, '')).get('code')
      if (code !== null) {
        host.address.clearHash()
        return takeCode(code)
      }
      const kept = readKept(host.storage.getItem(storageKey))
      if (kept && kept.endsAt > host.now()) return keepLocal(kept.token, kept.endsAt)
      become({ kind: 'signed_out', reason: null })
    },
    async login(input) {
      keepPair(await call('auth.login', input))
    },
    async register(input) {
      keepPair(await call('auth.register', input))
    },
    async logout() {
      const token = refreshToken
      forget(null)
      if (token !== null) await call('auth.logout', { refresh_token: token })
    },
    async rejected(code) {
      if (state.kind !== 'signed_in' || !tokenCodes.includes(code)) return
      await refresh()
    },
    onChange: (listener) => void listeners.push(listener),
  }

  async function takeCode(code: string): Promise<void> {
    try {
      const local = await call('auth.local', { code })
      const endsAt = host.now() + local.expires_in * 1_000
      host.storage.setItem(storageKey, JSON.stringify({ token: local.access_token, endsAt }))
      keepLocal(local.access_token, endsAt)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      forget('This link has been used or is too old. Start Copse again, or sign in.')
    }
  }
}

function readKept(text: string | null): { readonly token: string; readonly endsAt: number } | null {
  if (text === null) return null
  const kept: unknown = JSON.parse(text)
  if (typeof kept !== 'object' || kept === null || !('token' in kept) || !('endsAt' in kept)) return null
  return typeof kept.token === 'string' && typeof kept.endsAt === 'number'
    ? { token: kept.token, endsAt: kept.endsAt }
    : null
}
