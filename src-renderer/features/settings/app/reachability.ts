import type { SystemInfo } from '../../../../src-shared/contract/system.ts'

/** Whether other machines can reach the service, and what that means. */
export interface Reachability {
  readonly state: string
  readonly about: string
  /** Passwords and tokens can be read on their way here. */
  readonly isReadable: boolean
}

/** What opens the service; it is decided at its start, by who starts it, and not by who is signed in. */
export const exposeCommand = 'svc serve --host 0.0.0.0 --expose --tls-cert cert.pem --tls-key key.pem'

/** Says it in words. */
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
