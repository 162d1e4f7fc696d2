import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { ForgeError, type ForgeSource } from '../../ports/forges.ts'
import { TrackerError } from '../../ports/issue-trackers.ts'
import { createLiteralRedactor } from '../../platform/text/redact.ts'
import { createAnswerCache } from './answer-cache.ts'
import { readToken, send, sendForTail, type HttpAnswer, type HttpOptions, type HttpRequest } from './http.ts'
import { readLinks } from './link-header.ts'
import { nextPage } from './next-page.ts'
import { withoutToken } from './without-token.ts'

export interface ForgeRequest {
  /** GET without it. */
  readonly method?: HttpRequest['method']
  /** Absolute. */
  readonly url: string
  /** Sent as JSON. */
  readonly body?: unknown
  /** Statuses outside of 200 to 299 that are answered, not thrown. */
  readonly accept?: readonly number[]
  readonly headers?: Readonly<Record<string, string>>
  /** It changes nothing, whatever its method: it needs not wait for the last write. */
  readonly isRead?: boolean
}

export interface ForgeAnswer {
  readonly status: number
  /** null where the body isn't JSON. Holds no token. */
  readonly json: unknown
  readonly header: (name: string) => string | null
}

/** What a kind of forge says about how it is asked. */
export interface ForgeDialect {
  /** Display name. */
  readonly label: string
  headers(token: string): Readonly<Record<string, string>>
  /** Least time between two writes, in milliseconds. */
  readonly writeGapMs: number
  /** Returns what an answer that failed means, where it isn't what its status says. */
  explain(answer: ForgeAnswer & { readonly message: string }): ForgeError | null
}

interface ListOptions {
  /** The most pages; 20 without it. */
  readonly pages?: number | undefined
  /** The field that holds the list, where the answer isn't one itself. */
  readonly field?: string | undefined
}

/** Asks one repository's forge. All methods throw `ForgeError`. */
export interface ForgeApi {
  send(request: ForgeRequest): Promise<ForgeAnswer>
  /** Returns the items of a list and of its further pages. */
  list(url: string, options?: ListOptions): Promise<readonly unknown[]>
  /** Returns the last `bytes` of a log, which may lie at another host; null where there is none. */
  tail(url: string, bytes: number): Promise<string | null>
  /** Sends nothing to the host with this token before then, in milliseconds since the epoch. */
  pause(until: number): void
}

export type ForgeRequests = (source: ForgeSource, dialect: ForgeDialect, cancellable: Cancellable) => ForgeApi

export interface ForgeRequestsOptions extends HttpOptions {
  /** Overrides the forge's own least time between two writes. */
  readonly write_gap_ms?: number
}

/** The requests to one host with one token, of all projects. */
interface Lane {
  last: Promise<unknown>
  /** Milliseconds since the epoch. */
  not_before: number
  written_at: number
}

/** Creates what asks forges: one request at a time for a host and token, none while the host asked for a pause. */
export function createForgeRequests(options: ForgeRequestsOptions): ForgeRequests {
  const lanes = new Map<string, Lane>()
  const cache = createAnswerCache()
  return (source, dialect, cancellable) => {
    const token = tokenOf(options, source)
    const digest = createHash('sha256').update(token).digest('base64url')
    const key = `${new URL(source.base_url).origin} ${digest}`
    const lane = lanes.get(key) ?? { last: Promise.resolve(), not_before: 0, written_at: 0 }
    lanes.set(key, lane)
    const scope = { options, dialect, cancellable, lane, token, cache, digest }
    return {
      send: async (request) => read(scope, request, await exchange(scope, request)),
      list: (url, more = {}) => list(scope, url, more),
      tail: (url, bytes) => tail(scope, url, bytes),
      pause: (until) => {
        lane.not_before = Math.max(lane.not_before, until)
      },
    }
  }
}

interface Scope {
  readonly options: ForgeRequestsOptions
  readonly dialect: ForgeDialect
  readonly cancellable: Cancellable
  readonly lane: Lane
  readonly token: string
  readonly cache: ReturnType<typeof createAnswerCache>
  readonly digest: string
}

function tokenOf(options: HttpOptions, source: ForgeSource): string {
  try {
    return readToken(options.env, source.token_secret_ref)
  } catch (error) {
    throw error instanceof TrackerError ? new ForgeError('missing_secret', error.message) : error
  }
}

type Manner = Pick<HttpRequest, 'leavesRedirects' | 'tailBytes'>

/** Waits for the lane, sends, and notes what the host says about its limits. */
async function exchange(scope: Scope, request: ForgeRequest, manner: Manner = {}): Promise<HttpAnswer> {
  const { lane, options, cancellable } = scope
  const before = lane.last
  const own = Promise.withResolvers<undefined>()
  lane.last = own.promise
  try {
    await before
    cancellable.signal.throwIfAborted()
    const now = options.clock.now()
    if (lane.not_before > now) throw limited(scope, lane.not_before)
    await waitForWrite(scope, request)
    const answer = await sendOnce(scope, request, manner)
    if (answer.not_before !== null) lane.not_before = answer.not_before
    return answer
  } finally {
    own.resolve(undefined)
  }
}

async function waitForWrite({ lane, options, dialect, cancellable }: Scope, request: ForgeRequest) {
  const { method = 'GET', isRead = method === 'GET' } = request
  if (isRead) return
  const wait = lane.written_at + (options.write_gap_ms ?? dialect.writeGapMs) - options.clock.now()
  if (wait > 0) await delay(wait, undefined, cancellable)
  lane.written_at = options.clock.now()
}

async function sendOnce(scope: Scope, request: ForgeRequest, manner: Manner): Promise<HttpAnswer> {
  const { options, dialect, token, cancellable, cache, digest } = scope
  const { method = 'GET', url, body } = request
  const known = method === 'GET' ? cache.get(digest, url) : null
  const headers = {
    ...dialect.headers(token),
    ...request.headers,
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(known !== null && { 'if-none-match': known.etag }),
  }
  const sent = { method, url, headers, ...manner, ...(body !== undefined && { body: JSON.stringify(body) }) }
  try {
    const answer = await send(options, sent, cancellable)
    if (answer.status === 304 && known !== null) return { ...known.answer, not_before: answer.not_before }
    if (method === 'GET' && answer.status === 200) cache.put(digest, url, answer)
    return answer
  } catch (error) {
    throw error instanceof TrackerError ? connectionError(dialect, error) : error
  }
}

function connectionError({ label }: ForgeDialect, error: TrackerError): ForgeError {
  if (error.code === 'not_found') return new ForgeError('not_found', error.message)
  return new ForgeError('unreachable', `${label} can't be asked: ${error.message}`)
}

const limited = ({ dialect }: Scope, not_before: number) =>
  new ForgeError('rate_limited', `${dialect.label}'s rate limit is reached. Copse continues when it resets.`, {
    not_before,
  })

function read(scope: Scope, { accept = [] }: ForgeRequest, answer: HttpAnswer): ForgeAnswer {
  const { status, header, text } = answer
  const [json] = withoutToken([text === '' ? null : (parseJson(text) ?? null)], scope.token)
  if ((status >= 200 && status < 300) || accept.includes(status)) return { status, json, header }
  const message = createLiteralRedactor([scope.token])(messageOf(json))
  throw scope.dialect.explain({ status, json, header, message }) ?? statusError(scope, answer, message)
}

/** Returns the sentence of an answer that failed, as all three forges name it; at most 500 characters. */
function messageOf(json: unknown): string {
  if (typeof json !== 'object' || json === null) return ''
  const { message, error, error_description } = json as Readonly<Record<string, unknown>>
  const found = [message, error_description, error].find((value) => value !== undefined && value !== null)
  const text = typeof found === 'string' ? found : JSON.stringify(found ?? '')
  return text.slice(0, 500)
}

function statusError(scope: Scope, { status, not_before }: HttpAnswer, message: string): ForgeError {
  const { dialect, options } = scope
  const { label } = dialect
  const said = message === '' ? '' : ` It says: ${message}`
  if (status === 429 || (status === 403 && (not_before !== null || /rate limit|abuse/i.test(message)))) {
    const until = not_before ?? options.clock.now() + 60_000
    scope.lane.not_before = until
    return limited(scope, until)
  }
  if (status === 401) {
    return new ForgeError(
      'unauthorized',
      `${label} doesn't accept the token. Make a new one, and set the variable to it.`,
    )
  }
  if (status === 403) return new ForgeError('forbidden', `${label} doesn't allow this with the token.${said}`)
  if (status === 404 || status === 410) {
    return new ForgeError('not_found', `${label} doesn't have it, or the token can't see it.${said}`)
  }
  if (status >= 500) return new ForgeError('unreachable', `${label} failed with status ${status}. Copse tries again.`)
  return new ForgeError('refused', `${label} refused with status ${status}.${said}`)
}

async function list(scope: Scope, first: string, { pages = 20, field }: ListOptions): Promise<readonly unknown[]> {
  const items: unknown[] = []
  let url: string | null = first
  for (let page = 0; url !== null && page < pages; page++) {
    const request = { url }
    const answer: ForgeAnswer = read(scope, request, await exchange(scope, request))
    const found = field === undefined ? answer.json : fieldOf(answer.json, field)
    if (!Array.isArray(found)) throw notAList(scope.dialect)
    items.push(...found)
    url = following(url, found.length, answer.header)
  }
  return items
}

const fieldOf = (json: unknown, field: string): unknown =>
  typeof json === 'object' && json !== null ? Reflect.get(json, field) : undefined

/** Returns the address of the next page; counted where a list has no `Link`, or one to the server's internal name. */
function following(url: string, items: number, header: ForgeAnswer['header']): string | null {
  const links = readLinks(header('link'))
  const next = URL.parse(links.get('next') ?? '', url)
  if (next !== null && links.has('next') && next.origin === new URL(url).origin) return next.href
  if (links.size > 0 && !links.has('next')) return null
  const size_key = new URL(url).searchParams.has('limit') ? 'limit' : 'per_page'
  return nextPage(url, { size_key, items, header })
}

const notAList = ({ label }: ForgeDialect) =>
  new ForgeError('unreachable', `${label} answered with something else than a list. Check base_url and platform.`)

async function tail(scope: Scope, url: string, bytes: number): Promise<string | null> {
  const answer = await exchange(scope, { url }, { leavesRedirects: true, tailBytes: bytes })
  if ([404, 410].includes(answer.status)) return null
  const clean = createLiteralRedactor([scope.token])
  const location = answer.status >= 300 && answer.status < 400 ? answer.header('location') : null
  if (location === null) {
    if (answer.status < 200 || answer.status > 299) read(scope, { url }, answer)
    return answer.text === '' ? null : clean(answer.text)
  }
  const target = URL.parse(location, url)
  // Another host is told nothing, and a plain one could be anybody's.
  if (target === null || (target.protocol !== 'https:' && target.hostname !== new URL(url).hostname)) return null
  try {
    return clean(await sendForTail(scope.options, { url: target.href, bytes }, scope.cancellable))
  } catch (error) {
    if (error instanceof TrackerError) return null
    throw error
  }
}
