import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import type { Logger } from '../platform/logging/log.ts'
import { toApiError } from './http-errors.ts'

/** An event with an optional number, or a number alone. */
export type SseFrame =
  | { readonly id?: number; readonly event: string; readonly data: unknown }
  | { readonly id: number }

interface SseSource<T> {
  /** Ends when the signal aborts. Throws `ApiError` at the first item if the caller may not see the events. */
  readonly items: (signal: AbortSignal) => AsyncIterable<T>
  readonly frameOf: (item: T) => SseFrame
  /** Called with every keep-alive, and before a frame once `endings` has grown; if it rejects, the stream ends. */
  readonly recheck: () => Promise<void>
  readonly endings: () => number
}

export interface SseTiming {
  /** Interval of keep-alive comments. */
  readonly keepAliveMs: number
  /** How long a client may leave the socket full before it is disconnected; it resumes by `Last-Event-ID`. */
  readonly stallMs: number
}

export interface SseStreams {
  /** Responds with a stream; throws a refusal at its start, as other routes do. */
  open<T>(reply: FastifyReply, source: SseSource<T>): Promise<void>
  /** Ends every stream. */
  close(): Promise<void>
}

/** The open event streams of one server. */
export function createSseStreams(log: Logger, timing: SseTiming): SseStreams {
  const open = new Map<AbortController, Promise<void>>()
  return {
    open: async (reply, source) => {
      const controller = new AbortController()
      const items = source.items(controller.signal)[Symbol.asyncIterator]()
      const first = items.next()
      // Rights are checked before any wait, so a refusal shows within one turn of the event loop.
      const refusal = await Promise.race([first.then(() => null, refusedWith), nextTurn(null)])
      if (refusal) throw refusal.error
      const connection = startStream(reply, controller, source.recheck, { log, ...timing })
      const pumped = sendFrames(connection, items, first, source, log).finally(() => open.delete(controller))
      open.set(controller, pumped)
    },
    close: async () => {
      for (const controller of open.keys()) controller.abort()
      await Promise.all(open.values())
    },
  }
}

const refusedWith = (error: unknown) => ({ error })

interface Connection {
  readonly signal: AbortSignal
  /** Resolves with false when the client is gone; waits while it is slower than the source. */
  send(text: string): Promise<boolean>
  end(): void
}

function startStream(
  reply: FastifyReply,
  controller: AbortController,
  recheck: () => Promise<void>,
  options: SseTiming & { readonly log: Logger },
): Connection {
  const { raw } = reply
  const { signal } = controller
  reply.hijack()
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  })
  raw.write(': open\n\n')
  raw.once('close', () => {
    controller.abort()
  })
  raw.on('error', (error) => {
    options.log.debug({ err: error }, 'event stream broke')
  })
  const timer = setInterval(() => {
    if (!raw.writableNeedDrain) raw.write(': keep-alive\n\n')
    recheck().catch(() => {
      controller.abort()
    })
  }, options.keepAliveMs)
  const gathered = gatherWrites(raw)
  signal.addEventListener('abort', () => {
    clearInterval(timer)
    gathered.flush()
    raw.end()
  })
  return {
    signal,
    send: async (text) => {
      if (signal.aborted || raw.destroyed) return false
      gathered.write(text)
      return !raw.writableNeedDrain || drained(raw, signal, options)
    },
    end: () => {
      controller.abort()
    },
  }
}

/** A single event is sent at once; several within this time are sent together. */
const gatherMs = 20
/** This many characters are sent without waiting. */
const gatherCharacters = 16_384

/** Combines writes: with hundreds of clients, socket writes cost more than the events. */
function gatherWrites(raw: ServerResponse): { write(text: string): void; flush(): void } {
  let gathered = ''
  let timer: NodeJS.Timeout | undefined
  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    if (gathered === '' || raw.destroyed) return
    raw.write(gathered)
    gathered = ''
  }
  function inTime(): void {
    const wasBusy = gathered !== ''
    flush()
    if (wasBusy) timer = setTimeout(inTime, gatherMs)
  }
  return {
    flush,
    write: (text) => {
      gathered += text
      if (timer !== undefined && gathered.length <= gatherCharacters) return
      flush()
      timer = setTimeout(inTime, gatherMs)
    },
  }
}

async function drained(raw: ServerResponse, signal: AbortSignal, options: SseTiming & { readonly log: Logger }) {
  const stalled = AbortSignal.timeout(options.stallMs)
  try {
    await once(raw, 'drain', { signal: AbortSignal.any([signal, stalled]) })
    return true
  } catch (error) {
    if (stalled.aborted && !signal.aborted) {
      options.log.warn({ err: error, buffered: raw.writableLength }, 'event stream dropped: its client stopped reading')
    }
    raw.destroy()
    return false
  }
}

async function sendFrames<T>(
  connection: Connection,
  items: AsyncIterator<T>,
  first: Promise<IteratorResult<T>>,
  { frameOf, recheck, endings }: Omit<SseSource<T>, 'items'>,
  log: Logger,
): Promise<void> {
  let seen = endings()
  try {
    for (let next = await first; !next.done; next = await items.next()) {
      // Nothing is told to a session or token that has ended.
      if (endings() !== seen) {
        seen = endings()
        if (
          !(await recheck().then(
            () => true,
            () => false,
          ))
        )
          break
      }
      if (!(await connection.send(formatFrame(frameOf(next.value))))) break
    }
  } catch (error) {
    if (!connection.signal.aborted) {
      await connection.send(formatFrame({ event: 'error', data: toApiError(error, log).toBody() }))
    }
  } finally {
    connection.end()
    await items.return?.()
  }
}

/** Formats one event; JSON contains no line ends. */
function formatFrame(frame: SseFrame): string {
  const id = frame.id === undefined ? '' : `id: ${frame.id}\n`
  if (!('event' in frame)) return `${id}\n`
  return `${id}event: ${frame.event}\ndata: ${textOf(frame.data)}\n\n`
}

/** An event for hundreds of clients is serialized once. */
const texts = new WeakMap<object, string>()

function textOf(data: unknown): string {
  if (typeof data !== 'object' || data === null) return JSON.stringify(data)
  const text = texts.get(data) ?? JSON.stringify(data)
  texts.set(data, text)
  return text
}
