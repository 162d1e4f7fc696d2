import { ApiError, type ErrorCode } from '../../src-shared/contract/errors.ts'
import type { OperationInput } from '../../src-shared/contract/operations.ts'
import type { Call, SessionHost, SessionState } from './session-host.ts'
import { createSessionTokens } from './session-tokens.ts'

export type { SessionHost } from './session-host.ts'

/** The page's identity towards the service. */
export interface Session {
  readonly state: SessionState
  /** The invite code from the page's address; null without one. */
  readonly invite: string | null
  /** Returns the access token to send, or null. */
  token(): string | null
  /** Uses the one-time code from the address, else the token that this tab kept. Ends the state `starting`. */
  start(): Promise<void>
  login(input: OperationInput<'auth.login'>): Promise<void>
  register(input: OperationInput<'auth.register'>): Promise<void>
  logout(): Promise<void>
  /** Handles a call refused for its token: refreshes once, else signs out. */
  rejected(code: ErrorCode): Promise<void>
  onChange(listener: () => void): void
}

/** Error codes that mean the token is no longer usable. */
export const tokenCodes: readonly ErrorCode[] = ['missing_token', 'invalid_token', 'token_expired']

/** Creates the session of the desktop window, which needs no sign-in, because its user is the local operator. */
export function createWindowSession(): Session {
  const state: SessionState = { kind: 'signed_in', as: 'local' }
  const nothing = async (): Promise<void> => undefined
  return {
    state,
    invite: null,
    token: () => null,
    start: nothing,
    login: nothing,
    register: nothing,
    logout: nothing,
    rejected: nothing,
    onChange: () => undefined,
  }
}

const rememberedKey = 'copse.remembered'

/**
 * Creates a browser session. Tokens stay in memory, except the local operator's, which this tab
 * keeps across reloads.
 */
export function createWebSession(call: Call, host: SessionHost): Session {
  const listeners: (() => void)[] = []
  const hashParams = new URLSearchParams(host.address.hash.replace(/^#/, ''))
  let state: SessionState = { kind: 'starting' }
  const tokens = createSessionTokens(call, host, (next) => {
    state = next
    for (const listener of listeners) listener()
  })

  async function takeCode(code: string): Promise<void> {
    try {
      const local = await call('auth.local', { code })
      tokens.keepLocal(local.access_token, host.now() + local.expires_in * 1_000)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      tokens.forget('This link has expired. Press Enter in Copse’s terminal for a new one, or sign in.')
    }
  }
  /** Goes on with the session that this device remembers. Returns false without one. */
  async function resume(): Promise<boolean> {
    if (host.device.getItem(rememberedKey) === null) return false
    try {
      await host.alone(async () => tokens.usePair(await call('auth.resume', {})))
      return true
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      host.device.removeItem(rememberedKey)
      return false
    }
  }
  /** Notes whether the cookie of this session, which no script can see, is there. */
  function note(remember: boolean | undefined): void {
    if (remember === true) host.device.setItem(rememberedKey, 'yes')
    else host.device.removeItem(rememberedKey)
  }
  return {
    get state() {
      return state
    },
    invite: hashParams.get('invite'),
    token: tokens.access,
    async start() {
      const code = hashParams.get('code')
      if (code !== null || hashParams.has('invite')) host.address.clearHash()
      if (code !== null) await takeCode(code)
      else if (!tokens.resumeLocal() && !(await resume())) tokens.forget(null)
    },
    async login(input) {
      tokens.usePair(await call('auth.login', input))
      note(input.remember)
    },
    async register(input) {
      tokens.usePair(await call('auth.register', input))
      note(input.remember)
    },
    async logout() {
      host.device.removeItem(rememberedKey)
      const token = tokens.refreshToken()
      tokens.forget(null)
      if (token !== null) await call('auth.logout', { refresh_token: token })
    },
    async rejected(code) {
      if (state.kind === 'signed_in' && tokenCodes.includes(code)) await tokens.refresh()
    },
    onChange: (listener) => void listeners.push(listener),
  }
}
