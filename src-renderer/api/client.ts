import { createClient, type Client } from '../../src-shared/client/create-client.ts'
import { createHttpTransport } from '../../src-shared/client/http-transport.ts'
import { createIpcTransport } from '../../src-shared/client/ipc-transport.ts'
import type { DesktopBridge } from '../../src-shared/contract/desktop.ts'
import { ApiError } from '../../src-shared/contract/errors.ts'
import type { OperationName } from '../../src-shared/contract/operations.ts'
import { createPrefetch } from './head-start.ts'
import { createWebSession, createWindowSession, tokenCodes, type Session, type SessionHost } from './session.ts'

/** The page's connection to the service. */
export interface RendererConnection {
  readonly client: Client
  readonly session: Session
  /** Functions of the desktop window; null in a browser. */
  readonly desktop: DesktopBridge | null
}

/**
 * Creates the client: over IPC if the preload script put a bridge on the window, else over HTTP to
 * the page's origin. If signed in, it prefetches the project's board. `firstAnswers` resolves once
 * that has succeeded or failed.
 */
export function createRendererClient(projectId: string | null): {
  readonly connection: RendererConnection
  readonly firstAnswers: Promise<void>
} {
  const { client, session, desktop } = connect()
  const headStart = createPrefetch(client)
  const ask = async () => {
    await session.start()
    if (session.state.kind === 'signed_in') await headStart.begin(projectId)
  }
  return { connection: { client: headStart.client, session, desktop }, firstAnswers: ask() }
}

function connect(): RendererConnection {
  if (window.copse) {
    return {
      client: createClient(createIpcTransport(window.copse)),
      session: createWindowSession(),
      desktop: window.copse,
    }
  }
  let session: Session | null = null
  const plain = createClient(
    createHttpTransport({ baseUrl: window.location.origin, getToken: () => session?.token() ?? null }),
  )
  session = createWebSession(plain.call, browserHost())
  return { client: withSession(plain, session), session, desktop: null }
}

/** Operations that need no token, so refusals of them say nothing about the token. */
const tokenless: ReadonlySet<OperationName> = new Set([
  ...([
    'auth.options',
    'auth.register',
    'auth.login',
    'auth.local',
    'auth.refresh',
    'auth.resume',
    'auth.logout',
  ] as const),
])

/** Passes refused tokens to the session, so the page falls back to signing in. */
function withSession(client: Client, session: Session): Client {
  return {
    ...client,
    call: async (name, input) => {
      try {
        return await client.call(name, input)
      } catch (error) {
        if (error instanceof ApiError && tokenCodes.includes(error.code) && !tokenless.has(name)) {
          await session.rejected(error.code)
          if (session.state.kind === 'signed_in') return client.call(name, input)
        }
        throw error
      }
    },
  }
}

function browserHost(): SessionHost {
  return {
    storage: window.sessionStorage,
    device: window.localStorage,
    // Only https and this machine have locks.
    alone: async (work) => {
      if ('locks' in navigator) await navigator.locks.request('copse.session', work)
      else await work()
    },
    address: {
      hash: window.location.hash,
      clearHash: () => {
        const { history, location } = window
        history.replaceState(history.state, '', location.pathname + location.search)
      },
    },
    now: () => Date.now(),
    later: (ms, callback) => {
      // setTimeout overflows beyond 24.8 days and would fire at once.
      const timer = setTimeout(callback, Math.min(ms, 2_147_483_647))
      return () => clearTimeout(timer)
    },
  }
}
