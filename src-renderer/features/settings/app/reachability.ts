import type { SystemInfo } from '../../../../src-shared/contract/system.ts'

/** The network exposure of the service and its consequence. */
export interface Reachability {
  readonly state: string
  readonly about: string
  /** Whether passwords and tokens are sent without encryption. */
  readonly isReadable: boolean
}

/** The command that exposes the service; only a start with it can, no signed-in user. */
export const exposeCommand = 'svc serve --host 0.0.0.0 --expose --tls-cert cert.pem --tls-key key.pem'

/** Returns a description of the exposure. */
export function reachability({ exposed, url }: Pick<SystemInfo, 'exposed' | 'url'>): Reachability {
  if (!exposed) {
    const about = 'Only this machine can connect. To allow others, start Copse with:'
    return { state: 'Off', about, isReadable: false }
  }
  const reach =
    'Anyone who can reach it can try to sign in. Anyone signed in can run programs as you, in their projects.'
  if (url?.startsWith('https:')) return { state: 'On, with TLS', about: reach, isReadable: false }
  const about = `${reach} Without TLS, passwords and tokens can be read on the way. Start it with a certificate:`
  return { state: 'On, without TLS', about, isReadable: true }
}
