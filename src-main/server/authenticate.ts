import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ApiError } from '../../src-shared/contract/errors.ts'
import type { SecurityEventType } from '../../src-shared/contract/identity.ts'
import type { UserId } from '../../src-shared/contract/ids.ts'
import type { CallerRule } from '../../src-shared/contract/operation.ts'
import type { Api, CallContext } from '../api/api.ts'
import type { LiveTree } from '../platform/process/live-trees.ts'
import type { AddressLimits } from './address-limits.ts'
import type { Connections } from './connections.ts'
import { sourceOf } from './request-source.ts'
import type { RunnerLinks } from './runner-links.ts'
import { aboutRun, isOwnToken, runRefusal, type RunPeers } from './run-peers.ts'

type Principal = CallContext['principal']

/** Finds the owner of a token; throws `ApiError` for a missing, unknown or expired one. */
export interface Authenticator {
  authenticate(token: string | null): Promise<Principal>
  /** Grows whenever a session or token ends. */
  endings(): number
  readonly securityLog: {
    note(note: {
      readonly type: SecurityEventType
      readonly user_id: UserId | null
      readonly actor: string
      readonly source: NonNullable<CallContext['source']>
      readonly details: Readonly<Record<string, unknown>>
    }): void
  }
}

export interface Guard {
  /**
   * Checks the caller before the body is read. A program of a run is let in with that run's token only, and nowhere
   * without one.
   */
  admit(request: FastifyRequest, rule: CallerRule, options?: AdmitOptions): Promise<void>
  /** Returns the admitted caller. */
  principalOf(request: FastifyRequest): Principal
  /** Throws if the token is no longer valid. */
  recheck(request: FastifyRequest): Promise<void>
  /** Grows whenever a session or token ends, so that a recheck is due. */
  endings(): number
}

interface AdmitOptions {
  /** Also admits runners, who bring tokens of their own: their link is let in nowhere else but with a run's token. */
  readonly runners?: boolean
  /** Also accepts the token as `?token=`. */
  readonly query?: boolean
  /** Admits a read-only token for any method, because the called operation decides. */
  readonly reads?: boolean
  /** The code of the refusal of a program of a run. */
  readonly ofRun?: 'invalid_token' | 'other_user'
}

interface GuardParts {
  readonly authenticator: Authenticator
  readonly api: Pick<Api, 'admit'>
  readonly addresses: Pick<AddressLimits, 'failed'>
  readonly connections: Pick<Connections, 'claim'>
  readonly runs: RunPeers
  readonly links: Pick<RunnerLinks, 'of' | 'has'>
}

interface Caller {
  readonly principal: Principal
  readonly token: string | null
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The admitted caller and their token; null before that. */
    caller: Caller | null
  }
}

/**
 * Stores each request's caller on the request. A WeakMap would make every small garbage collection several times
 * slower.
 */
export function createGuard(app: FastifyInstance, parts: GuardParts): Guard {
  const { authenticator, api, addresses, connections, runs, links } = parts
  app.decorateRequest('caller', null)
  const refuse = (request: FastifyRequest, trees: readonly LiveTree[], principal: Principal, options: AdmitOptions) => {
    const refusal = new ApiError(runRefusal(trees, options.ofRun ?? 'invalid_token'))
    // A page that was left in mid-request is no program of a run.
    if (trees.length === 0 && request.raw.socket.destroyed) return refusal
    const { actor, details } = aboutRun(trees)
    authenticator.securityLog.note({
      type: 'run_refused',
      user_id: principal.kind === 'user' ? principal.user_id : null,
      actor,
      source: sourceOf(request, principal),
      details: { ...details, method: request.method, path: request.routeOptions.url ?? null },
    })
    return refusal
  }
  return {
    admit: async (request, rule, options = {}) => {
      const { query = false, reads = false, runners = false } = options
      const link = links.of(request.raw.socket)
      if (link !== null && rule === 'public' && !runners) throw notByLink()
      const trees = link === null ? await runs.of(request.raw.socket) : null
      if (rule === 'public') {
        if (trees !== null) throw refuse(request, trees, anonymous, options)
        request.caller = { principal: await operatorOf(request, authenticator), token: null }
        connections.claim(request.raw.socket, `address ${request.ip}`)
        return
      }
      const token = bearerOf(request) ?? (query ? queryTokenOf(request) : null)
      const principal = await authenticator.authenticate(token).catch((error: unknown) => {
        if (token !== null) addresses.failed(request.ip)
        throw error
      })
      if (trees !== null && !isOwnToken(trees, token ?? '')) throw refuse(request, trees, principal, options)
      if (link !== null && !(principal.kind === 'agent' && links.has(link, principal.execution_id))) throw notByLink()
      api.admit(rule, principal, !reads && request.method !== 'GET' && request.method !== 'HEAD')
      connections.claim(request.raw.socket, ownerOf(principal))
      request.caller = { principal, token }
    },
    principalOf: (request) => request.caller?.principal ?? anonymous,
    recheck: async (request) => {
      await authenticator.authenticate(request.caller?.token ?? null)
    },
    endings: () => authenticator.endings(),
  }
}

const notByLink = (): ApiError =>
  new ApiError({ code: 'invalid_token', message: 'By the link of a runner only its jobs and runs are let in.' })

const anonymous: Principal = { kind: 'anonymous' }

/** Returns the key by which connections and streams are counted together. */
export function ownerOf(principal: Principal): string {
  switch (principal.kind) {
    case 'user':
      return `user ${principal.user_id}`
    case 'agent':
      return `execution ${principal.execution_id}`
    case 'daemon':
      return `daemon ${principal.daemon_id}`
    case 'operator':
    case 'anonymous':
      return principal.kind
  }
}

/** Returns the operator signed in on this machine by a link, even for operations without authentication. */
async function operatorOf(request: FastifyRequest, authenticator: Authenticator): Promise<Principal> {
  const token = bearerOf(request)
  if (!token?.startsWith('local_')) return anonymous
  return await authenticator.authenticate(token).catch(() => anonymous)
}

function bearerOf(request: FastifyRequest): string | null {
  return /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1] ?? null
}

function queryTokenOf(request: FastifyRequest): string | null {
  const { token } = request.query as Record<string, unknown>
  return typeof token === 'string' ? token : null
}
