import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ClientRequest, IncomingMessage } from 'node:http'
import type { SeenAnswer } from '../ports/containment.ts'

type Watcher = (answer: SeenAnswer) => void

const watchers = new Map<string, Watcher>()
/** The watcher of the command whose request the library's proxy passes on. */
const current = new AsyncLocalStorage<Watcher | undefined>()
/** Node reports here the requests to servers of this process, and the answers to its own. */
const channels = [
  ['http.server.request.start', onRequest],
  ['http.client.response.finish', onAnswer],
] as const

/**
 * Calls `take` with every answer that the library's proxy passes on to this command, until the returned function is
 * called. It sees none over TLS.
 */
export function watchAnswers(commandId: string, take: Watcher): () => void {
  if (watchers.size === 0) for (const [name, see] of channels) subscribe(name, see)
  watchers.set(commandId, take)
  return () => {
    if (watchers.delete(commandId) && watchers.size === 0) for (const [name, see] of channels) unsubscribe(name, see)
  }
}

function onRequest(message: unknown): void {
  const { request } = message as { readonly request: IncomingMessage }
  const credentials = request.headers['proxy-authorization']
  const take = credentials === undefined ? undefined : watchers.get(commandOf(credentials) ?? '')
  // Every request starts here, so none has the watcher of the one before.
  if (take !== current.getStore()) current.enterWith(take)
}

function onAnswer(message: unknown): void {
  const { request, response } = message as { readonly request: ClientRequest; readonly response: IncomingMessage }
  const take = current.getStore()
  const host = request.getHeader('host')
  if (take === undefined || typeof host !== 'string' || response.statusCode === undefined) return
  const headers = Object.entries(response.headers).map(([name, value]) => [name, String(value)])
  take({ host, status: response.statusCode, headers: Object.fromEntries(headers) as Record<string, string> })
}

/** Returns what a command proves itself with to the proxy, as part of its address. */
export const proxyCredentials = (commandId: string, token: string): string =>
  `${encodeURIComponent(`srt.${Buffer.from(commandId).toString('base64')}`)}:${token}`

/** The library names the command in the user of the proxy's address: `user.<base64 of the ID>:<password>`. */
function commandOf(credentials: string): string | undefined {
  const words = Buffer.from(credentials.replace(/^basic\s+/i, ''), 'base64').toString('utf8')
  const encoded = /^[^.:]+\.([^:]+):/.exec(words)?.[1]
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('utf8')
}
