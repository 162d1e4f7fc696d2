import { connect, type Socket } from 'node:net'
import { serveParent } from './child.ts'

/**
 * Listens to a project's events on many connections, over bare sockets: full clients would take more of the
 * machine than the service. `open` answers once all of them hear; `collect` once each has heard `events` more
 * `task.updated`, with the 99th percentile of how long those took from their commit, in milliseconds.
 */
export type SubscribersRequest =
  | {
      readonly kind: 'open'
      readonly url: string
      readonly path: string
      readonly token: string
      readonly count: number
    }
  | { readonly kind: 'collect'; readonly events: number }

interface Listener {
  heard: number
  lastId: number
  rest: string
}

const listeners: Listener[] = []
let took: number[] = []
let onHeard: () => void = () => undefined
let failure: Error | null = null

serveParent<SubscribersRequest, number>(async (request) => {
  if (request.kind === 'open') {
    await Promise.all(Array.from({ length: request.count }, () => listen(request)))
    return request.count
  }
  const isDone = () => failure !== null || listeners.every(({ heard }) => heard >= request.events)
  const overdue = setTimeout(() => {
    failure ??= new Error(`Heard ${listeners.map(({ heard }) => heard).join(', ')} of ${request.events} events.`)
    onHeard()
  }, 60_000)
  while (!isDone()) await new Promise<void>((resolve) => (onHeard = resolve))
  clearTimeout(overdue)
  if (failure) throw failure
  const extra = listeners.find(({ heard }) => heard !== request.events)
  if (extra) throw new Error(`Heard ${extra.heard} events instead of ${request.events}.`)
  const sorted = took.toSorted((a, b) => a - b)
  took = []
  for (const listener of listeners) listener.heard = 0
  return sorted[Math.floor(sorted.length * 0.99)] ?? 0
})

function listen({ url, path, token }: { url: string; path: string; token: string }): Promise<void> {
  const { hostname, port, host } = new URL(url)
  const socket: Socket = connect(Number(port), hostname)
  const listener: Listener = { heard: 0, lastId: 0, rest: '' }
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\n\r\n`)
  socket.on('data', (chunk) => {
    const now = Date.now()
    const blocks = (listener.rest + chunk.toString('latin1')).split('\n\n')
    listener.rest = blocks.pop() ?? ''
    for (const block of blocks) {
      if (block.endsWith(': open')) {
        listeners.push(listener)
        resolve()
      } else if (block.includes('event: task.updated\n')) take(listener, block, now)
    }
  })
  socket.once('close', () => {
    failure ??= new Error('The service hung up.')
    reject(failure)
    onHeard()
  })
  return promise
}

function take(listener: Listener, block: string, now: number): void {
  const id = Number(/(?:^|\n)id: (\d+)\n/.exec(block)?.[1])
  const at = /"occurred_at":"([^"]+)"/.exec(block)?.[1]
  if (!(id > listener.lastId) || at === undefined) failure ??= new Error(`Out of order, or no event: ${block}`)
  listener.lastId = id
  listener.heard += 1
  took.push(now - Date.parse(at ?? ''))
  onHeard()
}
