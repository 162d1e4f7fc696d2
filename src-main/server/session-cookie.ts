import type { FastifyReply } from 'fastify'
import { rememberedDays } from '../../src-shared/contract/identity.ts'
import type { SessionCookie } from '../api/api.ts'

const name = 'svc_session'

/**
 * Returns the cookie of a remembered session. It goes only to the account operations of this host, never with a
 * request that another site began, and no script can read it.
 */
export function sessionCookie(reply: FastifyReply): SessionCookie {
  const { request } = reply
  return {
    read: () => valueIn(request.headers.cookie ?? ''),
    write: (value) => {
      const secure = request.protocol === 'https' ? '; Secure' : ''
      const age = value === null ? 0 : rememberedDays * 24 * 60 * 60
      const attributes = `Path=/api/v1/auth; HttpOnly; SameSite=Strict; Max-Age=${age}${secure}`
      void reply.header('set-cookie', `${name}=${value ?? ''}; ${attributes}`)
    },
  }
}

/** Browsers send a cookie of a longer path first; there is one path, so the first is ours. */
function valueIn(header: string): string | null {
  const pair = header.split(';').find((part) => part.trim().startsWith(`${name}=`))
  const value = pair?.trim().slice(name.length + 1) ?? ''
  return value === '' ? null : value
}
