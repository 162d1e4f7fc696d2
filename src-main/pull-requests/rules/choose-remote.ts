/** A remote of a repository, with the addresses that git would use. */
interface Remote {
  readonly name: string
  /** At least one, in the order in which git pushes to them. */
  readonly push_urls: readonly [string, ...string[]]
}

/** Where a branch is to go: the project's repository at its forge, or the fork. */
interface PushTarget {
  readonly clone_url: string
  readonly ssh_url: string | null
}

export type RemoteChoice =
  /** `remote`: its name, null if no remote has this address. */
  | { readonly kind: 'chosen'; readonly url: string; readonly remote: string | null }
  | { readonly kind: 'no_such_remote' }

/**
 * Says where to push: to the remote that the settings name; else to the remote whose address is the target's under any
 * spelling, `origin` first, because the user's keys are set up for that one; else to the target's clone URL.
 */
export function chooseRemote(
  remotes: readonly Remote[],
  { named, target }: { readonly named: string | null; readonly target: PushTarget },
): RemoteChoice {
  const isTarget = matcherOf(target)
  if (named !== null) {
    const found = remotes.find(({ name }) => name === named)
    if (!found) return { kind: 'no_such_remote' }
    return { kind: 'chosen', url: found.push_urls.find(isTarget) ?? found.push_urls[0], remote: named }
  }
  const originFirst = remotes.toSorted((a, b) => Number(b.name === 'origin') - Number(a.name === 'origin'))
  for (const { name, push_urls } of originFirst) {
    const url = push_urls.find(isTarget)
    if (url !== undefined) return { kind: 'chosen', url, remote: name }
  }
  return { kind: 'chosen', url: target.clone_url, remote: null }
}

interface Address {
  readonly protocol: 'http' | 'ssh'
  readonly host: string
  readonly port: number
  /** Lower-case, without slashes around it and without `.git`: no forge tells two repositories apart by these. */
  readonly path: string
}

/** An SSH address is compared with the target's own one where the forge tells it, because its port may be any. */
function matcherOf({ clone_url, ssh_url }: PushTarget): (url: string) => boolean {
  const wanted = [clone_url, ssh_url].flatMap((url) => (url === null ? [] : (parseAddress(url) ?? [])))
  return (url) => {
    const address = parseAddress(url)
    if (address === null) return false
    const alike = wanted.filter(({ protocol }) => protocol === address.protocol)
    return (alike.length > 0 ? alike : wanted).some((one) => isSame(one, address))
  }
}

/** Ports of different protocols can't be compared. */
const isSame = (a: Address, b: Address): boolean =>
  a.host === b.host && a.path === b.path && (a.protocol !== b.protocol || a.port === b.port)

const protocols: Readonly<Record<string, readonly [protocol: Address['protocol'], port: number]>> = {
  https: ['http', 443],
  http: ['http', 80],
  ssh: ['ssh', 22],
  'git+ssh': ['ssh', 22],
  'ssh+git': ['ssh', 22],
}

/** Other names of public forges: for networks where only port 443 is open, and of their pages. */
const otherNames: Readonly<Record<string, string>> = {
  'ssh.github.com:443': 'github.com:22',
  'altssh.gitlab.com:443': 'gitlab.com:22',
  'www.github.com:443': 'github.com:443',
}

/** Parses a URL or `user@host:path`; null for folders and for protocols by which no forge is pushed to. */
function parseAddress(url: string): Address | null {
  const written = /^([a-z][a-z+]*):\/\/(?:[^@/]*@)?(\[[^\]]+\]|[^:/]+)(?::(\d*))?\/(.+)$/i.exec(url)
  if (written) {
    const [, scheme = '', host = '', port = '', path = ''] = written
    const known = Object.entries(protocols).find(([name]) => name === scheme.toLowerCase())?.[1]
    return known ? addressOf(known[0], host, port === '' ? known[1] : Number(port), path) : null
  }
  // Git takes it for a folder if a slash comes before the colon. One letter is a drive.
  const [, host, path] = /^(?:[^@/\\]+@)?(\[[^\]]+\]|[^:@/\\]{2,}):(?!\/\/)(.+)$/.exec(url) ?? []
  return host === undefined || path === undefined ? null : addressOf('ssh', host, 22, path)
}

function addressOf(protocol: Address['protocol'], host: string, port: number, path: string): Address {
  const own = `${host.toLowerCase()}:${port}`
  const [, name = '', at = ''] = /^(.*):(\d+)$/.exec(otherNames[own] ?? own) ?? []
  return { protocol, host: name, port: Number(at), path: normalPath(path) }
}

const normalPath = (path: string): string =>
  decoded(path)
    .replaceAll(/^\/+|\/+$/g, '')
    .replace(/\.git$/i, '')
    .toLowerCase()

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
