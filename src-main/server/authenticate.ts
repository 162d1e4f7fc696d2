import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { CallerRule } from '../../src-shared/contract/operation.ts'
import type { Api, CallContext } from '../api/api.ts'
import type { AddressLimits } from './address-limits.ts'
import type { Connections } from './connections.ts'

type Principal = CallContext['principal']

/** Finds the owner of a token; throws `ApiError` for a missing, unknown or expired one. */
export interface Authenticator {
  authenticate(token: string | null): Promise<Principal>
  /** Grows whenever a session or token ends. */
  endings(): number
}

export interface Guard {
  /** Checks the caller before the body is read. */
  admit(request: FastifyRequest, rule: CallerRule, options?: AdmitOptions): Promise<void>
  /** Returns the admitted caller. */
  principalOf(request: FastifyRequest): Principal
  /** Throws if the token is no longer valid. */
  recheck(request: FastifyRequest): Promise<void>
  /** Grows whenever a session or token ends, so that a recheck is due. */
  endings(): number
}

export interface AdmitOptions {
  /** Also accepts the token as `?token=`. */
  readonly query?: boolean
  /** Admits a read-only token for any method, because the called operation decides. */
  readonly reads?: boolean
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
export function createGuard(
  app: FastifyInstance,
  authenticator: Authenticator,
  api: Pick<Api, 'admit'>,
  addresses: Pick<AddressLimits, 'failed'>,
  connections: Pick<Connections, 'claim'>,
): Guard {
  app.decorateRequest('caller', null)
  return {
    admit: async (request, rule, { query = false, reads = false } = {}) => {
      if (rule === 'public') {
        request.caller = { principal: await operatorOf(request, authenticator), token: null }
        connections.claim(request.raw.socket, `address ${request.ip}`)
        return
      }
      const token = bearerOf(request) ?? (query ? queryTokenOf(request) : null)
      const principal = await authenticator.authenticate(token).catch((error: unknown) => {
        if (token !== null) addresses.failed(request.ip)
        throw error
      })
      api.admit(rule, principal, !reads && request.method !== 'GET' && request.method !== 'HEAD')
      connections.claim(request.raw.socket, ownerOf(principal))
      request.caller = { principal, token }
    },
    principalOf: (request) => request.caller?.principal ?? { kind: 'anonymous' },
    recheck: async (request) => {
      await authenticator.authenticate(request.caller?.token ?? null)
    },
    endings: () => authenticator.endings(),
  }
}

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
  const anonymous: Principal = { kind: 'anonymous' }
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
