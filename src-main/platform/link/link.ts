import { connect, performServerHandshake, type Http2Session, type ServerHttp2Stream } from 'node:http2'
import type { Duplex } from 'node:stream'

/** Many connections over one pair of streams, such as the input and output of `ssh`, by HTTP/2. */
export interface Link {
  /** Resolves once nothing comes through from then on. Never rejects. */
  readonly closed: Promise<void>
  /** Ends all connections. */
  close(): void
}

/** The end that makes connections. */
export interface OutgoingLink extends Link {
  /** Opens a connection to the other end, which breaks with the link. null: the link has ended. `to`: its purpose. */
  connect(to?: string): Duplex | null
}

export interface LinkOptions {
  /** How long the other end may be silent, in milliseconds. It is asked for a sign of life three times in that time. */
  readonly silenceMs?: number
}

/** The purpose of a connection to the service itself. */
export const toService = 'link'

/** Begins the end that accepts connections. `carrier` carries nothing but the link. `to`: what the other end said. */
export function acceptLink(
  carrier: Duplex,
  onConnection: (connection: Duplex, to: string) => void,
  options?: LinkOptions,
): Link {
  const session = performServerHandshake(carrier, settings)
  session.on('stream', (stream: ServerHttp2Stream, headers) => {
    stream.on('error', () => undefined)
    if (headers[':method'] !== 'CONNECT') {
      stream.respond({ ':status': 405 }, { endStream: true })
      return
    }
    // The other side may have closed it before it was heard of here.
    if (stream.destroyed) return
    stream.respond({ ':status': 200 })
    onConnection(stream, headers[':authority'] ?? '')
  })
  return linkOf(session, carrier, options)
}

/** Begins the end that makes connections. `carrier` carries nothing but the link. */
export function openLink(carrier: Duplex, options?: LinkOptions): OutgoingLink {
  const session = connect('http://link', { ...settings, createConnection: () => carrier })
  return {
    ...linkOf(session, carrier, options),
    connect: (to = toService) => {
      if (session.closed || session.destroyed) return null
      const stream = session.request({ ':method': 'CONNECT', ':authority': to }, { endStream: false })
      stream.on('error', () => undefined)
      return stream
    },
  }
}

/** Enough for logs and packs on a line with a delay: by default a connection waits after each 64 KB. */
const windowBytes = 4 * 1024 * 1024
const settings = { settings: { initialWindowSize: windowBytes, maxConcurrentStreams: 1_000 } }

function linkOf(session: Http2Session, carrier: Duplex, { silenceMs = 30_000 }: LinkOptions = {}): Link {
  const closed = Promise.withResolvers<void>()
  // Counted in questions, not in time: a machine that was asleep has not been silent.
  let unanswered = 0
  const timer = setInterval(() => {
    if (session.destroyed) return
    if (unanswered >= 3) session.destroy()
    else {
      unanswered += 1
      session.ping(() => (unanswered = 0))
    }
  }, silenceMs / 3)
  timer.unref()
  const widen = (): void => session.setLocalWindowSize(2 * windowBytes)
  if (session.connecting) session.once('connect', widen)
  else widen()
  session.on('error', () => undefined)
  carrier.on('error', () => undefined)
  session.once('close', () => {
    clearInterval(timer)
    carrier.destroy()
    closed.resolve()
  })
  return { closed: closed.promise, close: () => session.destroy() }
}
