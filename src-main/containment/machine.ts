import { spawnSync } from 'node:child_process'
import type { ContainmentStatus } from '../../src-shared/contract/containment.ts'
import { findOnPath } from '../platform/process/find-on-path.ts'

const kinds = {
  linux: { kind: 'bubblewrap', needs: ['bwrap', 'socat'] },
  darwin: { kind: 'seatbelt', needs: ['/usr/bin/sandbox-exec'] },
} as const

/**
 * Returns whether and how this machine can contain runs. Works without the library, because every page asks for it
 * and loading takes a tenth of a second.
 */
export function readMachine(platform: string = process.platform): ContainmentStatus {
  const none = (reason: string): ContainmentStatus => ({ available: false, kind: null, reason })
  if (platform !== 'linux' && platform !== 'darwin') return none('Containment needs Linux or macOS.')
  const { kind, needs } = kinds[platform]
  const missing = missingNote(needs, platform)
  if (missing !== null) return none(missing)
  const failure = kind === 'bubblewrap' ? tryBubblewrap() : null
  return failure === null ? { available: true, kind, reason: null } : none(failure)
}

function missingNote(needs: readonly string[], platform: 'linux' | 'darwin'): string | null {
  const missing = needs.filter((program) => findOnPath(program) === null)
  if (missing.length === 0) return null
  const install = platform === 'linux' ? ' Install the packages bubblewrap and socat, then restart Copse.' : ''
  return `Not found: ${missing.join(', ')}.${install}`
}

/** Returns why the proxy of allowed hosts can't run here: the library looks for all that its own boxes need. */
export function proxyProblem(platform: string = process.platform): string | null {
  if (platform !== 'linux' && platform !== 'darwin') return 'Allowed hosts need Linux or macOS.'
  return missingNote(kinds[platform].needs, platform)
}

let gentle: boolean | undefined

/**
 * Returns whether a program in a box can end itself after SIGTERM: bubblewrap, which would kill everything at once,
 * must ignore the signal, and only GNU's `env` makes the program inside receive it again.
 */
export function canEndGently(): boolean {
  gentle ??=
    process.platform === 'linux' && spawnSync('env', ['--default-signal=HUP,INT,QUIT,TERM', 'true']).status === 0
  return gentle
}

/** Returns why a program can't start in the namespaces that a box needs, which many systems forbid; null if it can. */
function tryBubblewrap(): string | null {
  const args = ['--ro-bind', '/', '/', '--dev', '/dev', '--unshare-user', '--unshare-pid', '--proc', '/proc', '--']
  const { status, stderr, error } = spawnSync('bwrap', [...args, '/bin/sh', '-c', 'true'], {
    encoding: 'utf8',
    timeout: 5_000,
  })
  if (status === 0) return null
  const cause = error?.message ?? stderr.trim().split('\n').at(-1) ?? ''
  return `bubblewrap can’t start a program here (${cause}). Allow user namespaces, as docs/security.md says, then restart Copse.`
}
