import type { Platform } from '../../../src-shared/contract/trackers.ts'
import { pausedUntil } from '../rules/next-poll.ts'
import {
  TrackerError,
  type IssuePageResponse,
  type IssueTrackers,
  type PageRequest,
} from '../../ports/issue-trackers.ts'
import type { Clock } from '../../ports/clock.ts'
import { gitea } from './gitea.ts'
import { github } from './github.ts'
import type { Forge } from './forge.ts'
import { readLinks } from './link-header.ts'
import { nextPage } from './next-page.ts'
import { withoutToken } from './without-token.ts'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'

interface AskOptions {
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

const maxRedirects = 5

/**
 * GETs an address. Follows redirects on the same origin only, so that no one else gets the token. The signal also
 * aborts reading the body.
 */
async function ask(address: string, { headers, signal }: AskOptions): Promise<Response> {
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

/** Resolves `address` against `from`; throws if the origin differs. */
function sameOrigin(address: string, from: string, what: string): string {
  const url = URL.parse(address, from)
  if (url?.origin !== new URL(from).origin || url.username !== '' || url.password !== '') {
    throw new TrackerError(
      'other_host',
      `${what} Copse doesn't follow redirects to another host. Set base_url to the tracker's own address.`,
    )
  }
  return url.href
}

const forges: { readonly [P in Platform]: Forge } = { hosted: github, selfhosted: gitea }

export interface TrackerOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  /** Sent as the user agent, which GitHub requires. */
  readonly version: string
  /** Time limit of one page, from the first byte sent to the last one read. */
  readonly timeout_ms?: number
  /** Time limit without any byte from the tracker. */
  readonly silence_ms?: number
  readonly max_bytes?: number
}

/** Creates what reads the issues of all kinds of forges. */
export function createIssueTrackers(options: TrackerOptions): IssueTrackers {
  return {
    page: async (request, { signal }) => {
      const token = readToken(options.env, request.source.token_secret_ref)
      try {
        return await readPage(options, request, token, signal)
      } catch (error) {
        throw signal.aborted || error instanceof TrackerError ? error : connectionError(error)
      }
    },
  }
}

async function readPage(
  options: TrackerOptions,
  request: PageRequest,
  token: string,
  signal: AbortSignal,
): Promise<IssuePageResponse> {
  const { timeout_ms = 60_000, silence_ms = 20_000 } = options
  const silence = new AbortController()
  const timer = setTimeout(() => silence.abort(new SilenceError(silence_ms)), silence_ms)
  try {
    const until = AbortSignal.any([signal, silence.signal, AbortSignal.timeout(timeout_ms)])
    return await askPage(options, request, token, { signal: until, onHeard: () => timer.refresh() })
  } catch (error) {
    throw silence.signal.aborted && !signal.aborted ? silence.signal.reason : error
  } finally {
    clearTimeout(timer)
  }
}

class SilenceError extends TrackerError {
  constructor(ms: number) {
    super('timed_out', `The tracker didn't answer for ${Math.ceil(ms / 1_000)} seconds. Copse will retry.`)
  }
}

async function askPage(
  { clock, version, max_bytes = 33_554_432 }: TrackerOptions,
  request: PageRequest,
  token: string,
  { signal, onHeard }: { readonly signal: AbortSignal; readonly onHeard: () => void },
): Promise<IssuePageResponse> {
  const { issues, headers: authenticated } = forges[request.source.platform]
  const first = issues.firstPage(request.source, request)
  const url = request.url === null ? first : sameOrigin(request.url, first, 'The next page lies elsewhere.')
  const headers = {
    ...authenticated(token),
    'user-agent': `copse/${version}`,
    ...(request.url === null && request.etag !== null && { 'if-none-match': request.etag }),
  }
  const response = await ask(url, { headers, signal })
  onHeard()
  const header = (name: string) => response.headers.get(name)
  const not_before = pausedUntil({ now: clock.now(), header })
  const date = Date.parse(header('date') ?? '')
  const facts = { not_before, date: Number.isNaN(date) ? null : date, redirected: response.url !== url }
  if (response.status === 304) {
    await response.body?.cancel()
    return { ...facts, items: null, next_url: null, pages_total: 1, etag: request.etag }
  }
  if (!response.ok) {
    await response.body?.cancel()
    throw statusError(response.status, not_before, clock.now())
  }
  const items = withoutToken(readItems(await readLimited(response, max_bytes, onHeard)), token)
  const links = readLinks(header('link'))
  const next = links.get('next')
  const following = links.size > 0 ? null : nextPage(url, { size_key: issues.sizeKey, items: items.length, header })
  return {
    ...facts,
    items,
    next_url: next === undefined ? following : sameOrigin(next, response.url, 'The next page lies elsewhere.'),
    pages_total: issues.pagesTotal({ links, header, page_size: request.page_size }),
    etag: header('etag'),
  }
}

function readItems(text: string): readonly unknown[] {
  const value = parseJson(text)
  if (!Array.isArray(value)) throw new TrackerError('bad_response', notAList)
  return value
}

const notAList = 'The tracker answered with something else than a list of issues. Check base_url and platform.'

function statusError(status: number, not_before: number | null, now: number): TrackerError {
  // GitHub uses 403 for limits too; only then do the headers name a pause.
  if (status === 429 || (status === 403 && not_before !== null)) {
    const message = "The tracker's rate limit is reached. Copse continues when it resets."
    return new TrackerError('rate_limited', message, not_before ?? now + 60_000)
  }
  const [code, message] = sentences[status] ?? [
    status >= 500 ? 'tracker_failed' : 'bad_response',
    `The tracker answered with status ${status}. Copse will retry.`,
  ]
  return new TrackerError(code, message, not_before)
}

const sentences: Readonly<Record<number, readonly [TrackerError['code'], string]>> = {
  401: ['unauthorized', 'The tracker does not accept the token. Make a new one, and set the variable to it.'],
  403: ['forbidden', "The token can't read the issues of this repository. Grant it that permission."],
  404: ['not_found', "The tracker has no such repository, or the token can't see it. Check owner and repo."],
  410: ['not_found', 'The repository no longer has issues: they are switched off, or it was deleted.'],
  451: ['forbidden', "The tracker can't show this repository."],
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

function tooLarge(maxBytes: number): TrackerError {
  return new TrackerError(
    'too_large',
    `The tracker answered with more than ${Math.round(maxBytes / 1_048_576)} MB for one page.`,
  )
}

/** Returns the token in an environment variable; it never leaves this folder. */
function readToken(env: Readonly<Record<string, string | undefined>>, name: string): string {
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
