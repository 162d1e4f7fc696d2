import { TrackerError } from '../engine/ports/issue-trackers.ts'

export interface AskOptions {
  readonly headers: Readonly<Record<string, string>>
  readonly timeout_ms: number
  readonly signal: AbortSignal
}

const maxRedirects = 5

/**
 * GETs an address. Redirects are followed on the same origin only, so that nobody else gets the token. The
 * time runs until the body is read: `signal` of the answer ends with it.
 */
export async function ask(
  address: string,
  options: AskOptions,
): Promise<{ readonly response: Response; readonly signal: AbortSignal }> {
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(options.timeout_ms)])
  let url = address
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    const response = await fetch(url, { headers: options.headers, redirect: 'manual', signal })
    const location = [301, 302, 303, 307, 308].includes(response.status) ? response.headers.get('location') : null
    if (location === null) return { response, signal }
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
