import { chmod, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { z } from 'zod'
import { parseJson } from '../../src-shared/lang/parse-json.ts'
import { readUntil } from '../platform/link/carrier.ts'
import { linkAnswer } from '../platform/link/marked-start.ts'
import { settleOrAbort } from '../platform/locks/settle-or-abort.ts'
import { openLinkPort } from '../platform/link/link-port.ts'
import { openLink, type OutgoingLink } from '../platform/link/link.ts'

/** What the service says first on a link. */
const Hello = z.object({ token: z.string() })

/** The socket by which a link reaches a running runner. */
export const linkSocket = (folder: string): string => join(folder, 'link.sock')

/** The links of a runner, of which the newest counts. */
export interface Links extends AsyncDisposable {
  /** Where the service is while there is a link; the same for as long as the runner runs. */
  readonly url: string
  /** The token that the service gave with its last link; empty before. */
  token(): string
  isLinked(): boolean
  /** Opens a connection to the service; waits for a link while there is none. null: none has come. */
  connect(): Promise<Duplex | null>
}

/**
 * Takes links on a socket in the folder, which only its owner may use. Rejects if another runner has it. `onLink` is
 * called with each.
 */
export async function serveLinks(folder: string, onLink: (link: OutgoingLink) => void): Promise<Links> {
  const path = linkSocket(folder)
  let current: OutgoingLink | null = null
  let token = ''
  let linked = Promise.withResolvers<void>()
  const ending = new AbortController()
  // What a run asks while the link is cut waits for it.
  const connect = async (): Promise<Duplex | null> => {
    if (current === null)
      await settleOrAbort(linked.promise, AbortSignal.any([ending.signal, AbortSignal.timeout(cutMs)]))
    return current?.connect() ?? null
  }
  const port = await openLinkPort(connect)
  const take = async (socket: Socket): Promise<void> => {
    const { heard } = await readUntil(socket, '\n', maxHello)
    const hello = Hello.safeParse(parseJson(heard?.before.toString('utf8') ?? ''))
    if (heard === null || heard.rest.length > 0 || !hello.success) return void socket.destroy()
    // The service says nothing before this, so that HTTP/2 finds all that follows in the socket itself.
    socket.write(linkAnswer)
    const link = openLink(socket)
    current?.close()
    current = link
    token = hello.data.token
    linked.resolve()
    onLink(link)
    await link.closed
    if (current !== link) return
    current = null
    linked = Promise.withResolvers()
  }
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    void take(socket)
  })
  await rm(path, { force: true })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve))
  await chmod(path, 0o600)
  return {
    url: `http://127.0.0.1:${port.port}`,
    token: () => token,
    isLinked: () => current !== null,
    connect,
    [Symbol.asyncDispose]: async () => {
      ending.abort()
      current?.close()
      server.close()
      await port.close()
      await rm(path, { force: true })
    },
  }
}

const maxHello = 4_096
/** How long a connection waits for a link. */
const cutMs = 60_000
