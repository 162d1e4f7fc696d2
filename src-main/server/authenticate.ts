import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { CallerRule } from '../../src-shared/contract/operation.ts'
import type { Api, CallContext } from '../api/api.ts'
import type { AddressLimits } from './address-limits.ts'
import type { Connections } from './connections.ts'

type Principal = CallContext['principal']

/** Says who a token belongs to; throws `ApiError` for one that is missing, unknown or expired. */
export interface Authenticator {
  authenticate(token: string | null): Promise<Principal>
}

export interface Guard {
  /** Before anything of the body is read. */
  admit(request: FastifyRequest, rule: CallerRule, options?: AdmitOptions): Promise<void>
  /** Who was admitted. */
  principalOf(request: FastifyRequest): Principal
  /** Throws when the token that was good at the start is no longer. */
  recheck(request: FastifyRequest): Promise<void>
}

export interface AdmitOptions {
  /** The token may also come as `?token=`. */
  readonly query?: boolean
  /** A token that may only read is let in whatever the method says: what is called decides. */
  readonly reads?: boolean
}

interface Caller {
  readonly principal: Principal
  readonly token: string | null
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Who was admitted, and by which token; null before that. */
    caller: Caller | null
  }
}

/**
 * Keeps, with each request of `app`, who makes it. A WeakMap would make every small garbage collection take several
 * times as long.
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
  }
}

/** Whose connections and streams are counted together. */
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

/** Where anybody may call, the person at this machine is still known by the page that a link has signed in. */
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
