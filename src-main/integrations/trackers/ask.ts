import { TrackerError } from '../../ports/issue-trackers.ts'

export interface AskOptions {
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

const maxRedirects = 5

/**
 * GETs an address. Redirects are followed on the same origin only, so that nobody else gets the token. The signal also
 * ends the reading of the body.
 */
export async function ask(address: string, { headers, signal }: AskOptions): Promise<Response> {
  let url = address
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    const response = await fetch(url, { headers, redirect: 'manual', signal })
    const location = [301, 302, 303, 307, 308].includes(response.status) ? response.headers.get('location') : null
    if (location === null) return response
    await response.body?.cancel()
    url = sameOrigin(location, url, 'The tracker sends on to another address.')
  }
  throw new TrackerError('bad_response', 'The tracker sends from one address to the next without an end.')
}

/** `address`, seen from `from`; a failure when it lies elsewhere. */
export function sameOrigin(address: string, from: string, what: string): string {
  const url = URL.parse(address, from)
  if (url?.origin !== new URL(from).origin || url.username !== '' || url.password !== '') {
    throw new TrackerError(
      'other_host',
      `${what} Copse follows to no other host. Give the tracker's own address as base_url.`,
    )
  }
  return url.href
}
