import { ApiError } from '../../src-shared/contract/errors.ts'
import type { Session as SessionPair } from '../../src-shared/contract/identity.ts'
import type { Call, SessionHost, SessionState } from './session-host.ts'

const storageKey = 'copse.local-token'
/** The time in milliseconds before the access token's end at which it is refreshed. */
const refreshMarginMs = 60_000

/**
 * Creates the tokens of a browser session and refreshes them before they end. `onStateChange` receives
 * every new session state.
 */
export function createSessionTokens(call: Call, host: SessionHost, onStateChange: (state: SessionState) => void) {
  let access: string | null = null
  let refreshToken: string | null = null
  let cancelTimer: () => void = () => undefined
  let refreshing: Promise<void> | null = null

  function forget(reason: string | null): void {
    cancelTimer()
    access = null
    refreshToken = null
    host.storage.removeItem(storageKey)
    onStateChange({ kind: 'signed_out', reason })
  }
  function schedule(ms: number, run: () => void): void {
    cancelTimer()
    cancelTimer = host.later(ms, run)
  }
  function useLocal(token: string, endsAt: number): void {
    access = token
    schedule(endsAt - host.now(), () =>
      forget('This session has ended. Press Enter in Copse’s terminal for a new link.'),
    )
    onStateChange({ kind: 'signed_in', as: 'local' })
  }
  function usePair(pair: SessionPair): void {
    access = pair.access_token
    refreshToken = pair.refresh_token
    schedule(Math.max(1_000, pair.expires_in * 1_000 - refreshMarginMs), () => void refresh())
    onStateChange({ kind: 'signed_in', as: 'account' })
  }
  /** Refreshes the tokens. Simultaneous calls share one refresh, because a refresh token can be used only once. */
  function refresh(): Promise<void> {
    refreshing ??= exchange().finally(() => (refreshing = null))
    return refreshing
  }
  async function exchange(): Promise<void> {
    if (refreshToken === null)
      return forget('Copse restarted. Open the link it printed, or sign in. Your text is kept.')
    try {
      usePair(await call('auth.refresh', { refresh_token: refreshToken }))
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return forget('Your session has ended. Sign in again.')
      // The service is unreachable, but the token may still be valid later.
      schedule(5_000, () => void refresh())
    }
  }
  return {
    access: () => access,
    refreshToken: () => refreshToken,
    forget,
    usePair,
    refresh,
    /** Uses a local token and keeps it for this tab's reloads. */
    keepLocal(token: string, endsAt: number): void {
      host.storage.setItem(storageKey, JSON.stringify({ token, endsAt }))
      useLocal(token, endsAt)
    },
    /** Resumes the local token that this tab kept. Returns false if there is none or it has ended. */
    resumeLocal(): boolean {
      const kept = readKept(host.storage.getItem(storageKey))
      if (!kept || kept.endsAt <= host.now()) return false
      useLocal(kept.token, kept.endsAt)
      return true
    },
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
