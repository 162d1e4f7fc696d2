import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Conversation, ModelTurn } from '../conversation.ts'

/** One API of model servers. Requests come from an agent under test, so their shape is trusted. */
export interface Wire {
  /** Returns whether a path is this wire's, and the model that it names, if any. */
  match(path: string): { readonly model: string | null; readonly stream: boolean | null } | null
  read(body: object): Conversation
  answer(response: ServerResponse, turn: ModelTurn, how: { readonly model: string; readonly stream: boolean }): void
}

/** The reported cost of every turn. */
export const turnUsage = { input_tokens: 100, output_tokens: 20 } as const

/** An ID like those of model servers. */
export const newId = (prefix: string): string => `${prefix}_${randomUUID().replaceAll('-', '').slice(0, 24)}`

/** Sends server-sent events, each under its type where it has one. */
export function sendEvents(response: ServerResponse, events: readonly (object | string)[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  for (const event of events) {
    const name = typeof event === 'object' && 'type' in event ? `event: ${String(event.type)}\n` : ''
    response.write(`${name}data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`)
  }
  response.end()
}

/** Sends one JSON body. */
export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
