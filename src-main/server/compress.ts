import { brotliCompress, constants, gzip, type CompressCallback } from 'node:zlib'
import type { FastifyInstance } from 'fastify'

/** What fits into one packet gains nothing. */
const smallest = 1_400

/** Levels after which an answer gets hardly smaller and takes twice as long. */
const encoders: Readonly<Record<'br' | 'gzip', (body: string | Buffer, done: CompressCallback) => void>> = {
  br: (body, done) => {
    brotliCompress(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 3 } }, done)
  },
  gzip: (body, done) => {
    gzip(body, { level: 6 }, done)
  },
}

/**
 * Compresses JSON and text for clients that ask for it. An answer is compressed whole, beside the event loop, because
 * it is there whole; files of the page are compressed by the build, and event streams are not: each event must leave
 * at once.
 */
export function addCompression(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const body = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload : ''
    if (body.length < smallest || !isText(reply.getHeader('content-type'))) {
      done(null, payload)
      return
    }
    reply.header('vary', 'accept-encoding')
    const encoding = bestEncoding(request.headers['accept-encoding'])
    if (encoding === null) {
      done(null, payload)
      return
    }
    encoders[encoding](body, (error, compressed) => {
      if (error) {
        done(error)
        return
      }
      reply.header('content-encoding', encoding)
      done(null, compressed)
    })
  })
}

const isText = (type: unknown): boolean => typeof type === 'string' && /^(application\/json|text\/)/.test(type)

/** Returns the encoding that the client likes best, Brotli of equals; null if it names neither. */
function bestEncoding(accepted = ''): keyof typeof encoders | null {
  const weights = new Map(accepted.toLowerCase().split(',').map(weightOf))
  const [br, gzip] = [weights.get('br') ?? 0, weights.get('gzip') ?? 0]
  if (br === 0 && gzip === 0) return null
  return br >= gzip ? 'br' : 'gzip'
}

/** Reads one item of the header, such as `gzip;q=0.5`. */
function weightOf(item: string): [string, number] {
  const [name = '', ...parameters] = item.split(';').map((part) => part.trim())
  const weight = parameters.find((one) => one.startsWith('q='))
  return [name, weight === undefined ? 1 : Number(weight.slice(2)) || 0]
}
