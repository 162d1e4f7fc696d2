import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:http2'
import { createServer, request, type IncomingMessage } from 'node:http'
import { createConnection, createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net'
import { duplexPair, PassThrough, type Duplex } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { acceptLink, openLink, type OutgoingLink } from '../../../../src-main/platform/link/link.ts'
import { openLinkPort } from '../../../../src-main/platform/link/link-port.ts'
import { linkAnswer, linkMark, NoLink, startCarrier } from '../../../../src-main/platform/link/marked-start.ts'

/** Both ends of one connection. */
async function connectedPair(): Promise<readonly [Socket, Socket]> {
  const server = createTcpServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const accepted = once(server, 'connection') as Promise<[Socket]>
  const there = createConnection((server.address() as AddressInfo).port)
  const [here] = await accepted
  server.close()
  return [here, there]
}

interface Linked extends AsyncDisposable {
  readonly carrier: Duplex
  readonly link: OutgoingLink
  readonly port: number
  /** How many connections the server has. */
  open(): number
}

/** A port at one end of a link, at whose other end is a server that tells the length and the end of what it gets. */
async function startLinked(): Promise<Linked> {
  const server = createServer((asked, answer) => {
    if (asked.url === '/long') answer.end(Buffer.alloc(30_000_000, 'x'))
    else if (asked.url !== '/never')
      void buffer(asked).then((body) => answer.end(`${body.length} ${body.subarray(-4).toString('hex')}`))
  })
  const [here, there] = await connectedPair()
  let open = 0
  acceptLink(here, (connection) => {
    open += 1
    connection.once('close', () => (open -= 1))
    server.emit('connection', connection)
  })
  const link = openLink(there)
  const { port, close } = await openLinkPort(() => Promise.resolve(link.connect()))
  return {
    link,
    port,
    carrier: there,
    open: () => open,
    [Symbol.asyncDispose]: async () => {
      link.close()
      await link.closed
      await close()
    },
  }
}

async function ask({ port }: Linked, path: string, body?: Buffer): Promise<IncomingMessage> {
  const asked = request({ port, host: '127.0.0.1', method: body ? 'POST' : 'GET', path, agent: false })
  asked.end(body)
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  return answer
}

test('carries many requests beside each other, and big ones both ways', async () => {
  await using linked = await startLinked()
  const many = Array.from({ length: 200 }, async (_, index) => {
    const body = randomBytes(index * 500)
    expect(await text(await ask(linked, '/', body))).toBe(`${body.length} ${body.subarray(-4).toString('hex')}`)
  })
  const long = ask(linked, '/long').then((answer) => buffer(answer))
  await Promise.all(many)
  expect((await long).length).toBe(30_000_000)
  expect(await text(await ask(linked, '/', Buffer.alloc(30_000_000)))).toBe('30000000 00000000')
  await expect.poll(linked.open).toBe(0)
})

test('breaks what is under way when the carrier is cut', async () => {
  await using linked = await startLinked()
  const waiting = expect(ask(linked, '/never')).rejects.toThrow()
  const long = await ask(linked, '/long')
  await expect.poll(linked.open).toBe(2)
  linked.carrier.destroy()
  await expect(buffer(long)).rejects.toThrow()
  await waiting
  await linked.link.closed
  await expect.poll(linked.open).toBe(0)
  await expect(ask(linked, '/')).rejects.toThrow()
})

test('ends when the other end is silent', async () => {
  const [here, there] = duplexPair()
  const accepted = acceptLink(here, () => undefined, { silenceMs: 60 })
  there.resume()
  await accepted.closed
})

test('accepts no request that is not a connection', async () => {
  const [here, there] = duplexPair()
  acceptLink(here, () => expect.unreachable())
  const session = connect('http://x', { createConnection: () => there })
  const stream = session.request({ ':path': '/' })
  const [headers] = (await once(stream, 'response')) as [Record<string, unknown>]
  expect(headers[':status']).toBe(405)
  session.destroy()
})

test('begins after the greeting of a shell', async () => {
  const script = `echo Welcome; printf '%s' "$0"; read -r hello; printf '%s' "$1"; echo "$hello"; exec cat`
  const program = spawn('sh', ['-c', script, linkMark(1), linkAnswer])
  const carrier = await startCarrier(program.stdout, program.stdin, linkMark(1), 'hello')
  const echoed = text(carrier)
  carrier.end('to and fro')
  expect(await echoed).toBe('hello\nto and fro')
})

test('tells what another program said instead', async () => {
  const output = new PassThrough()
  output.end('Last login: today\nThis account is not available.\n')
  const start = (from: PassThrough) => startCarrier(from, new PassThrough(), linkMark(1), 'hello')
  const failed = await start(output).catch((error: unknown) => error)
  expect(failed).toBeInstanceOf(NoLink)
  expect(failed).toHaveProperty('message', 'Last login: today\nThis account is not available.')
  const endless = new PassThrough()
  const refused = expect(start(endless)).rejects.toThrow(NoLink)
  for (let times = 0; times < 5; times++) endless.write(Buffer.alloc(30_000, 'y'))
  await refused
})
