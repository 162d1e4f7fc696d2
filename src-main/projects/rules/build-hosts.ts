import { hostProblem } from '../../../src-shared/contract/allowed-hosts.ts'
import { registryHosts } from '../../../src-shared/contract/registry-hosts.ts'

/** Returns the hosts that builds usually need: where the remotes are, first, and package registries. */
export const buildHosts = (remoteUrls: readonly string[]): readonly string[] => [
  ...new Set([...remoteUrls.flatMap((url) => remoteHost(url) ?? []), ...registryHosts]),
]

/**
 * Returns the host of a git URL, also in the form `user@host:path`; null for folders, and for what no run could be
 * allowed to reach.
 */
function remoteHost(url: string): string | null {
  const host = /^\w[\w+.-]*:\/\/(?:[^@/]*@)?([^:/]+)|^(?:[^@/\\:]+@)?([^@/\\:]{2,}):(?!\\)/.exec(url)?.slice(1).join('')
  const name = host?.toLowerCase() ?? ''
  return name === '' || hostProblem(name) !== null ? null : name
}
