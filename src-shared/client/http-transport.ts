import type { FileContent } from '../contract/attachments.ts'
import { ApiError, refusalIn } from '../contract/errors.ts'
import type { EventEnvelope, FeedItem, TranscriptItem } from '../contract/events.ts'
import type { LogSlice } from '../contract/executions.ts'
import type { StreamName } from '../contract/operations.ts'
import type { Transport } from './create-client.ts'
import { eventTypes, routes, streamPaths, type Route } from './routes.ts'
import { createSseParser, type SseEvent } from './sse-parser.ts'
import { parseJson } from '../lang/parse-json.ts'
import { pathParameters } from '../contract/path-parameters.ts'

/** The service was unreachable, closed the connection, or another program answered. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  readonly code = 'connection_failed'
}

export interface HttpTransportOptions {
  /** Scheme, host and port, without a path. Empty: the page's own origin. */
  readonly baseUrl: string
  /** Called before every call, so that it can refresh the token; null calls without one. */
  readonly getToken: () => string | null | Promise<string | null>
  readonly fetch?: typeof globalThis.fetch
  /** How long a stream may be silent before it counts as lost; the service sends something every 15 s. */
  readonly silenceMs?: number
}

/** Calls and streams over HTTP. Throws `ApiError` for refusals and `ConnectionError` for all else. */
export function createHttpTransport(options: HttpTransportOptions): Transport {
  const request = createRequest(options)
  return {
    call: async (name, input) => {
      const route = routes[name]
      const { method, target, body } = requestFor(route, input)
      const response = await request(target, {
        method,
        ...(body !== null && { body, headers: { 'content-type': 'application/json' } }),
      })
      return readAnswer(response, route)
    },
    stream: (name, input, after, signal) => readStream(name, input, after, signal),
  }

  async function* readStream(name: StreamName, input: unknown, after: number | null, signal: AbortSignal) {
    const { target } = requestFor({ method: 'GET', path: streamPaths[name] }, input)
    const silence = createSilenceAlarm(options.silenceMs ?? 45_000)
    try {
      const response = await request(target, {
        headers: { accept: 'text/event-stream', ...(after !== null && { 'last-event-id': String(after) }) },
        signal: AbortSignal.any([signal, silence.signal]),
      })
      for await (const event of readEvents(response, silence.heard)) {
        const item = name === 'events.stream' ? feedItemOf(event) : transcriptItemOf(event)
        if (item) yield item
      }
    } catch (error) {
      if (!signal.aborted) throw error
    } finally {
      silence.stop()
    }
  }
}

function createRequest({ baseUrl, getToken, fetch = globalThis.fetch }: HttpTransportOptions) {
  const base = baseUrl.replace(/\/$/, '')
  // On the same machine, compressing and inflating takes longer than sending. Browsers decide this themselves.
  const encoding = /^http:\/\/(127\.|localhost[:/]|\[::1\])/.test(`${base}/`) ? { 'accept-encoding': 'identity' } : {}
  return async (target: string, init: RequestInit): Promise<Response> => {
    const token = await getToken()
    const headers = { ...encoding, ...(init.headers as Record<string, string> | undefined), ...bearer(token) }
    const response = await orConnectionError(fetch(base + target, { ...init, headers }))
    if (!response.ok) throw await readError(response)
    return response
  }
}

const bearer = (token: string | null) => (token === null ? {} : { authorization: `Bearer ${token}` })

/** Converts any failure of `work` into a `ConnectionError`. */
export async function orConnectionError<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw new ConnectionError('Copse could not be reached. Is it running?', { cause: error })
  }
}

/** Returns the error of an unsuccessful response: an `ApiError`, or a `ConnectionError` if another program answered. */
export async function readError(response: Response): Promise<Error> {
  const text = await orConnectionError(response.text())
  const refusal = refusalIn(parseJson(text))
  if (refusal) return new ApiError({ ...refusal, status: response.status })
  return new ConnectionError(`Something that is not Copse answered with status ${response.status}.`)
}

async function readAnswer(response: Response, { responds }: Route): Promise<unknown> {
  if (responds === 'bytes') return readSlice(response)
  if (responds === 'file') return readFile(response)
  if (response.status === 204) return null
  const answer = parseJson(await orConnectionError(response.text()))
  if (answer === undefined) throw new ConnectionError('Something that is not Copse answered.')
  return answer
}

async function readSlice(response: Response): Promise<LogSlice> {
  const bytes = new Uint8Array(await orConnectionError(response.arrayBuffer()))
  return {
    data_base64: base64Of(bytes),
    next_offset: Number(response.headers.get('x-next-offset')),
    complete: response.headers.get('x-complete') === 'true',
  }
}

async function readFile(response: Response): Promise<FileContent> {
  const bytes = new Uint8Array(await orConnectionError(response.arrayBuffer()))
  const [, encoded = ''] = /filename\*=UTF-8''([^;]*)/i.exec(response.headers.get('content-disposition') ?? '') ?? []
  const [media_type = ''] = (response.headers.get('content-type') ?? '').split(';')
  return { name: decodeURIComponent(encoded), media_type, data_base64: base64Of(bytes) }
}

function base64Of(bytes: Uint8Array): string {
  const pieces: string[] = []
  // The number of arguments of one call is limited.
  for (let at = 0; at < bytes.length; at += 8_192) {
    pieces.push(String.fromCharCode(...bytes.subarray(at, at + 8_192)))
  }
  return btoa(pieces.join(''))
}

async function* readEvents(response: Response, onData: () => void): AsyncGenerator<SseEvent> {
  const reader = response.body?.getReader()
  if (!reader) throw new ConnectionError('The stream has no body.')
  const parser = createSseParser()
  const decoder = new TextDecoder()
  try {
    for (;;) {
      const { done, value } = await orConnectionError(reader.read())
      if (done) return
      onData()
      yield* parser.push(decoder.decode(value, { stream: true }))
    }
  } finally {
    // The caller may stop in mid-stream; a broken connection has nothing to cancel.
    await reader.cancel().catch(() => undefined)
  }
}

/** Aborts its signal after `ms` without data, as after the computer's sleep. */
function createSilenceAlarm(ms: number) {
  const controller = new AbortController()
  const arm = () =>
    setTimeout(() => {
      controller.abort()
    }, ms)
  let timer = arm()
  return {
    signal: controller.signal,
    heard: () => {
      clearTimeout(timer)
      timer = arm()
    },
    stop: () => {
      clearTimeout(timer)
    },
  }
}

/** Returns null for items of a newer service that this client does not know. */
function feedItemOf({ id, event, data }: SseEvent): FeedItem | null {
  if (event === '') return { kind: 'begun', seq: Number(id) }
  const value = JSON.parse(data) as unknown
  if (event === 'error') throw errorOf(value)
  if (event === 'execution.activity') return { kind: 'activity', activity: value as never }
  if (event === 'hook.activity') return { kind: 'hook', hook: value as never }
  if (event === 'worktree.changed') return { kind: 'worktree', change: value as never }
  if (event === 'stream.reset') return { kind: 'reset', seq: Number(id) }
  if (!eventTypes.includes(event)) return null
  return { kind: 'event', event: { seq: Number(id), type: event, data: value } as EventEnvelope }
}

function transcriptItemOf({ id, event, data }: SseEvent): TranscriptItem | null {
  const value = JSON.parse(data) as unknown
  if (event === 'error') throw errorOf(value)
  if (event === 'end') return { kind: 'end' }
  return event === 'entry' ? { kind: 'entry', index: Number(id), entry: value as never } : null
}

function errorOf(value: unknown): Error {
  const refusal = refusalIn(value)
  return refusal ? new ApiError(refusal) : new ConnectionError('Something that is not Copse answered.')
}

type Values = Readonly<Record<string, unknown>>

/** The HTTP request of a call. */
interface HttpRequest {
  readonly method: string
  /** Path and query, from `/api/v1` on. */
  readonly target: string
  /** JSON; null sends no body. */
  readonly body: string | null
}

/** Distributes an operation's flat input over its path, then the query (GET, DELETE) or the body. */
function requestFor(spec: Pick<Route, 'method' | 'path'>, input: unknown): HttpRequest {
  const values = (input ?? {}) as Values
  const names = new Set(pathParameters(spec.path))
  const path = spec.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])))
  const others = Object.entries(values).filter(([name, value]) => !names.has(name) && value !== undefined)
  const target = `/api/v1${path}`
  if (spec.method === 'GET' || spec.method === 'DELETE') {
    const query = queryOf(others)
    return { method: spec.method, target: query === '' ? target : `${target}?${query}`, body: null }
  }
  return { method: spec.method, target, body: JSON.stringify(Object.fromEntries(others)) }
}

function queryOf(entries: readonly (readonly [string, unknown])[]): string {
  return entries
    .flatMap(([name, value]) => (Array.isArray(value) ? value : [value]).map((one: unknown) => [name, String(one)]))
    .map((pair) => pair.map(encodeURIComponent).join('='))
    .join('&')
}
