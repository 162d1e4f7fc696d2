import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../../src-shared/contract/errors.ts'
import type { FeedItem, TranscriptItem } from '../../src-shared/contract/events.ts'
import { streams } from '../../src-shared/contract/operations.ts'
import type { CallContext } from '../api/api.ts'
import { ownerOf } from './authenticate.ts'
import { createQueryReader, flatInput } from './flat-input.ts'
import { validationFailed } from './refusals.ts'
import { routePath } from './rest.ts'
import type { RouteParts } from './rest.ts'
import type { SseFrame, SseStreams } from './sse.ts'

/** Adds the contract's two streams, as server-sent events. */
export function addStreamRoutes(app: FastifyInstance, parts: RouteParts, sse: SseStreams): void {
  const { api, guard } = parts
  const contextOf = (request: FastifyRequest, signal: AbortSignal) => ({
    principal: guard.principalOf(request),
    signal: AbortSignal.any([signal, parts.lifetime]),
    remote_address: request.ip,
  })
  const readQuery = createQueryReader(streams['events.stream'].input)
  const places = createStreamPlaces()
  const onRequest = (request: FastifyRequest) => guard.admit(request, 'anyone')

  app.get(routePath(streams['events.stream'].path), { onRequest }, async (request, reply) => {
    const after = lastEventIdOf(request)
    places.take(guard.principalOf(request), reply)
    const input = flatInput(readQuery(request.query as Record<string, unknown>), null, request.params)
    await sse.open(reply, {
      items: (signal) => api.events(input, after, contextOf(request, signal)),
      frameOf: feedFrame,
      recheck: () => guard.recheck(request),
      endings: guard.endings,
    })
  })

  app.get(routePath(streams['executions.stream'].path), { onRequest }, async (request, reply) => {
    const from = (lastEventIdOf(request) ?? -1) + 1
    await sse.open(reply, {
      items: (signal) => api.transcript(flatInput({}, null, request.params), from, contextOf(request, signal)),
      frameOf: transcriptFrame,
      recheck: () => guard.recheck(request),
      endings: guard.endings,
    })
  })
}

/** A person's pages and scripts have one event stream each; more than this is a mistake. */
const maxStreams = 256

/** Counts event streams per person; streams of runs end with the run. */
function createStreamPlaces() {
  const open = new Map<string, number>()
  return {
    /** Takes a slot until the response is closed. Throws `rate_limited` if all are taken. */
    take: (principal: CallContext['principal'], { raw }: FastifyReply) => {
      if (principal.kind === 'agent') return
      const owner = ownerOf(principal)
      const count = open.get(owner) ?? 0
      if (count >= maxStreams) {
        const message = `You have ${maxStreams} event streams open. Close one, or share one among your programs.`
        throw new ApiError({ code: 'rate_limited', message, details: { retry_after: 10 } })
      }
      open.set(owner, count + 1)
      raw.once('close', () => {
        const left = (open.get(owner) ?? 1) - 1
        if (left > 0) open.set(owner, left)
        else open.delete(owner)
      })
    },
  }
}

function lastEventIdOf(request: FastifyRequest): number | null {
  const header = request.headers['last-event-id']
  if (header === undefined || header === '') return null
  const id = typeof header === 'string' && /^\d+$/.test(header) ? Number(header) : NaN
  if (!Number.isSafeInteger(id))
    throw validationFailed('Last-Event-ID', 'Send the id of the last event, a whole number.')
  return id
}

function feedFrame(item: FeedItem): SseFrame {
  switch (item.kind) {
    case 'begun':
      // A browser's EventSource stores the ID to resume from, without an event.
      return { id: item.seq }
    case 'event':
      return { id: item.event.seq, event: item.event.type, data: item.event.data }
    case 'activity':
      return { event: 'execution.activity', data: item.activity }
    case 'worktree':
      return { event: 'worktree.changed', data: item.change }
    case 'hook':
      return { event: 'hook.activity', data: item.hook }
    case 'reset':
      return { id: item.seq, event: 'stream.reset', data: { seq: item.seq } }
  }
}

function transcriptFrame(item: TranscriptItem): SseFrame {
  switch (item.kind) {
    case 'entry':
      return { id: item.index, event: 'entry', data: item.entry }
    case 'end':
      return { event: 'end', data: {} }
  }
}
