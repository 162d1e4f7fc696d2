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
  /** GET without it. */
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Answers a redirect instead of following it. */
  readonly leavesRedirects?: boolean
  /** Reads this much from the end of the answer, however long it is. */
  readonly tailBytes?: number
}

export interface HttpAnswer {
  readonly status: number
  /** Where it came from, after redirects. */
  readonly url: string
  /** The body; of an answer that failed at most its first 64 KiB. */
  readonly text: string
  readonly header: (name: string) => string | null
  /** Earliest time of the next request by the other side's limits, in milliseconds since the epoch. */
  readonly not_before: number | null
  /** The other side's clock, in milliseconds since the epoch. */
  readonly date: number | null
}

const maxRedirects = 5

/** Sends a request and reads the answer, whatever its status. Throws `TrackerError` if there is none. */
export async function send(options: HttpOptions, request: HttpRequest, { signal }: Cancellable): Promise<HttpAnswer> {
  return answered(options, signal, async (until, onHeard) => {
    const response = await follow(request, options.version, until)
    onHeard()
    return read(options, response, { tailBytes: request.tailBytes, onHeard })
  })
}

/**
 * Returns the last `bytes` of what lies at an address, which may be of another host: it gets no token. Throws
 * `TrackerError` for every other answer than a success.
 */
export async function sendForTail(
  options: HttpOptions,
  { url, bytes }: { readonly url: string; readonly bytes: number },
  { signal }: Cancellable,
): Promise<string> {
  return answered(options, signal, async (until, onHeard) => {
    const headers = { 'user-agent': `copse/${options.version}` }
    const response = await fetch(url, { headers, signal: until })
    onHeard()
    if (!response.ok) {
      await response.body?.cancel()
      throw new TrackerError('bad_response', `The log was answered with status ${response.status}.`)
    }
    return readTail(response, bytes, onHeard)
  })
}

/** Runs an exchange within both time limits, and turns what it throws into a `TrackerError`. */
async function answered<T>(
  options: HttpOptions,
  signal: AbortSignal,
  exchange: (until: AbortSignal, onHeard: () => void) => Promise<T>,
): Promise<T> {
  const { timeout_ms = 60_000, silence_ms = 20_000 } = options
  const silence = new AbortController()
  const timer = setTimeout(() => silence.abort(silent(silence_ms)), silence_ms)
  try {
    const until = AbortSignal.any([signal, silence.signal, AbortSignal.timeout(timeout_ms)])
    return await exchange(until, () => timer.refresh())
  } catch (error) {
    if (silence.signal.aborted && !signal.aborted) throw silence.signal.reason
    throw signal.aborted || error instanceof TrackerError ? error : connectionError(error)
  } finally {
    clearTimeout(timer)
  }
}

const silent = (ms: number) =>
  new TrackerError('timed_out', `The tracker didn't answer for ${Math.ceil(ms / 1_000)} seconds. Copse will retry.`)

const maxErrorBytes = 65_536

async function read(
  { clock, max_bytes = 33_554_432 }: HttpOptions,
  response: Response,
  { tailBytes, onHeard }: { readonly tailBytes: number | undefined; readonly onHeard: () => void },
): Promise<HttpAnswer> {
  const header = (name: string) => response.headers.get(name)
  const date = Date.parse(header('date') ?? '')
  return {
    status: response.status,
    url: response.url,
    text: await (!response.ok
      ? readStart(response, maxErrorBytes, onHeard)
      : tailBytes === undefined
        ? readLimited(response, max_bytes, onHeard)
        : readTail(response, tailBytes, onHeard)),
    header,
    not_before: pausedUntil({ now: clock.now(), header }),
    date: Number.isNaN(date) ? null : date,
  }
}

/** Follows redirects on the same origin only, so that no one else gets the token. */
async function follow(request: HttpRequest, version: string, signal: AbortSignal): Promise<Response> {
  const { method = 'GET', body = null, leavesRedirects = false } = request
  const headers = { ...request.headers, 'user-agent': `copse/${version}` }
  let { url } = request
  for (let count = 0; count <= maxRedirects; count++) {
    const response = await fetch(url, { method, headers, body, redirect: 'manual', signal })
    const location = [301, 302, 303, 307, 308].includes(response.status) ? response.headers.get('location') : null
    if (location === null || leavesRedirects) return response
    await response.body?.cancel()
    // The other redirects may turn a write into a read.
    if (method !== 'GET' && ![307, 308].includes(response.status)) throw movedWrite(url)
    url = sameOrigin(location, url, 'The tracker sends on to another address.')
  }
  throw new TrackerError('bad_response', 'The tracker sends from one address to the next without an end.')
}

const movedWrite = (url: string) =>
  new TrackerError('not_found', `${new URL(url).host} has the repository under another name. Correct owner and repo.`)

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

/** Reads a response, at most `maxBytes`. Calls `onHeard` for every chunk. */
async function readLimited(response: Response, maxBytes: number, onHeard: () => void): Promise<string> {
  const told = Number(response.headers.get('content-length') ?? 0)
  if (told > maxBytes) {
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
      if (size > maxBytes) throw tooLarge(maxBytes)
      chunks.push(chunk)
    }
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Reads at most the first `maxBytes`, and none where the connection breaks: the status is worth more than the text. */
async function readStart(response: Response, maxBytes: number, onHeard: () => void): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of response.body ?? []) {
      onHeard()
      chunks.push(chunk)
      size += chunk.byteLength
      if (size >= maxBytes) break
    }
  } catch {
    return ''
  }
  return Buffer.concat(chunks).subarray(0, maxBytes).toString('utf8')
}

/** Reads everything and keeps the last `bytes`, from the begin of a line. */
async function readTail(response: Response, bytes: number, onHeard: () => void): Promise<string> {
  let chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    onHeard()
    chunks.push(chunk)
    size += chunk.byteLength
    if (size > 4 * bytes) {
      // One more, by which it is seen that something was cut off.
      const kept = Buffer.concat(chunks).subarray(-bytes - 1)
      chunks = [kept]
      size = kept.byteLength
    }
  }
  const all = Buffer.concat(chunks)
  const end = all.subarray(-bytes).toString('utf8')
  if (all.byteLength <= bytes) return end
  const line = end.indexOf('\n') + 1
  return line === end.length ? end : end.slice(line)
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
