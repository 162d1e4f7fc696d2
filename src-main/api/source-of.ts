import { thisProcess, type RequestSource } from '../domain/access/request-source.ts'
import type { CallContext } from './api.ts'

/** Returns where a call comes from; by default the window. */
export function sourceOf({ source, remote_address }: CallContext): RequestSource {
  return source ?? (remote_address === null ? thisProcess : { ...elsewhere, address: remote_address })
}

const elsewhere = { client: null, atWindow: false, isSameUser: () => Promise.resolve(false) }
