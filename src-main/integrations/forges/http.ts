import type { Clock } from '../../ports/clock.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { TrackerError } from '../../ports/issue-trackers.ts'
import { pausedUntil } from '../rules/next-poll.ts'

export interface HttpOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  /** Sent as the user agent, which GitHub requires. */
  readonly version: string
  /** Time limit of one answer, from the first byte sent to the last one read. */
  readonly timeout_ms?: number
  /** Time limit without any byte from the other side. */
  readonly silence_ms?: number
  readonly max_bytes?: number
}

export interface HttpRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: unknown
  /**
   * Whether a redirect to another host is followed, without what authenticates; only the end of a longer answer than
   * `max_bytes` is then kept.
   */
  readonly elsewhere?: boolean
}

export interface HttpAnswer {
  readonly status: number
  /** Where it came from, after redirects. */
  readonly url: string
  readonly text: string
  readonly header: (name: string) => string | null
  /** Earliest time of the next request by the other side's limits, in milliseconds since the epoch. */
  readonly not_before: number | null
  /** The other side's clock, in milliseconds since the epoch. */
  readonly date: number | null
}

const maxRedirects = 5
/** A write is sent on only where its method stays. */
const redirects = { GET: [301, 302, 303, 307, 308], other: [307, 308] }

/** Sends a request and reads its answer, whatever its status. Throws `TrackerError` if there is none. */
export async function send(options: HttpOptions, request: HttpRequest, { signal }: Cancellable): Promise<HttpAnswer> {
  const { timeout_ms = 60_000, silence_ms = 20_000 } = options
  const silence = new AbortController()
  const timer = setTimeout(() => silence.abort(silent(silence_ms)), silence_ms)
  try {
    const until = AbortSignal.any([signal, silence.signal, AbortSignal.timeout(timeout_ms)])
    return await read(options, request, until, () => timer.refresh())
  } catch (error) {
    if (silence.signal.aborted && !signal.aborted) throw silence.signal.reason
    throw signal.aborted || error instanceof TrackerError ? error : connectionError(error)
  } finally {
    clearTimeout(timer)
  }
}

const silent = (ms: number) =>
  new TrackerError('timed_out', `The tracker didn't answer for ${Math.ceil(ms / 1_000)} seconds. Copse will retry.`)

async function read(
  { clock, version, max_bytes = 33_554_432 }: HttpOptions,
  request: HttpRequest,
  signal: AbortSignal,
  onHeard: () => void,
): Promise<HttpAnswer> {
  const response = await follow(request, { 'user-agent': `copse/${version}` }, signal)
  onHeard()
  const header = (name: string) => response.headers.get(name)
  const date = Date.parse(header('date') ?? '')
  return {
    status: response.status,
    url: response.url,
    text: await readLimited(response, max_bytes, { onHeard, end: request.elsewhere === true }),
    header,
    not_before: pausedUntil({ now: clock.now(), header }),
    date: Number.isNaN(date) ? null : date,
  }
}

/** Follows redirects on the same origin only, so that no one else gets the token, or without it. */
async function follow(
  { method = 'GET', url: first, headers, body, elsewhere = false }: HttpRequest,
  own: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Response> {
  const content = body === undefined ? {} : { 'content-type': 'application/json' }
  let url = first
  let sent: Readonly<Record<string, string>> = { ...headers, ...own, ...content }
  for (let count = 0; count <= maxRedirects; count++) {
    const init = { method, headers: sent, redirect: 'manual', signal } as const
    const response = await fetch(url, body === undefined ? init : { ...init, body: JSON.stringify(body) })
    const follows = method === 'GET' ? redirects.GET : redirects.other
    const location = follows.includes(response.status) ? response.headers.get('location') : null
    if (location === null) return response
    await response.body?.cancel()
    const next = URL.parse(location, url)
    if (elsewhere && next?.protocol === 'https:' && next.origin !== new URL(url).origin) {
      url = next.href
      sent = own
    } else url = sameOrigin(location, url, 'The tracker sends on to another address.')
  }
  throw new TrackerError('bad_response', 'The tracker sends from one address to the next without an end.')
}

/** Resolves `address` against `from`; throws if the origin differs. */
export function sameOrigin(address: string, from: string, what: string): string {
  const url = URL.parse(address, from)
  if (url?.origin !== new URL(from).origin || url.username !== '' || url.password !== '') {
    throw new TrackerError(
      'other_host',
      `${what} Copse doesn't follow redirects to another host. Set base_url to the tracker's own address.`,
    )
  }
  return url.href
}

/** Returns an error with the code only: the message might quote what was sent. */
function connectionError(error: unknown): TrackerError {
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return new TrackerError('timed_out', "The tracker didn't answer in time. Copse will retry.")
  }
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : null
  const code = cause && 'code' in cause && typeof cause.code === 'string' ? ` (${cause.code})` : ''
  return new TrackerError('unreachable', `The tracker cannot be reached${code}. Check base_url and the network.`)
}

/** Reads a response, at most `maxBytes`, of which `end` keeps the last. Calls `onHeard` for every chunk. */
async function readLimited(
  response: Response,
  maxBytes: number,
  { onHeard, end }: { readonly onHeard: () => void; readonly end: boolean },
): Promise<string> {
  const told = Number(response.headers.get('content-length') ?? 0)
  if (!end && told > maxBytes) {
    await response.body?.cancel()
    throw tooLarge(maxBytes)
  }
  const chunks: Uint8Array[] = []
  let size = 0
  if (response.body) {
    // Leaving the loop early cancels the stream and its connection.
    for await (const chunk of response.body) {
      onHeard()
      size += chunk.byteLength
      chunks.push(chunk)
      if (size > maxBytes && !end) throw tooLarge(maxBytes)
      while (end && chunks[0] !== undefined && size - chunks[0].byteLength >= maxBytes) {
        size -= chunks.shift()?.byteLength ?? 0
      }
    }
  }
  return Buffer.concat(chunks).subarray(-maxBytes).toString('utf8')
}

function tooLarge(maxBytes: number): TrackerError {
  return new TrackerError(
    'too_large',
    `The tracker answered with more than ${Math.round(maxBytes / 1_048_576)} MB for one page.`,
  )
}

/** Returns the token in an environment variable; it never leaves this folder. */
export function readToken(env: Readonly<Record<string, string | undefined>>, name: string): string {
  const token = env[name]?.trim() ?? ''
  if (token === '') {
    throw new TrackerError(
      'missing_secret',
      `The environment variable ${name} is not set. Set it where Copse is started, and start Copse again.`,
    )
  }
  // An invalid header value would be quoted in an error message.
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new TrackerError('unusable_secret', `The environment variable ${name} doesn't hold a token.`)
  }
  return token
}
