import { request } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'

export interface Received {
  readonly body: unknown
  /** Of the body as it was sent. */
  readonly bytes: number
}

/** Asks as a browser does: for compressed answers. */
export async function receive(
  url: string,
  headers: Readonly<Record<string, string>>,
  body?: unknown,
): Promise<Received> {
  const { promise, resolve, reject } = Promise.withResolvers<Received>()
  const json = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
  const asked = request(url, {
    method: json ? 'POST' : 'GET',
    headers: {
      ...headers,
      'accept-encoding': 'gzip, deflate, br',
      ...(json && { 'content-type': 'application/json', 'content-length': json.length }),
    },
  })
  asked.on('error', reject)
  asked.on('response', (response) => {
    const parts: Buffer[] = []
    response.on('data', (part: Buffer) => parts.push(part))
    response.on('error', reject)
    response.on('end', () => {
      const sent = Buffer.concat(parts)
      const text = decoded(sent, response.headers['content-encoding']).toString()
      if ((response.statusCode ?? 500) >= 400) reject(new Error(`${url} answered ${response.statusCode}: ${text}`))
      else resolve({ body: JSON.parse(text) as unknown, bytes: sent.length })
    })
  })
  asked.end(json)
  return promise
}

function decoded(sent: Buffer, encoding: string | undefined): Buffer {
  if (encoding === 'br') return brotliDecompressSync(sent)
  return encoding === 'gzip' ? gunzipSync(sent) : sent
}
