import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { serveParent } from './child.ts'

/**
 * Sends transitions over keep-alive connections, one request at a time on each, and checks each answer's
 * status. It speaks HTTP over bare sockets: a full client costs as much as the floor's whole route and
 * would hide how fast the floor is.
 */
export type LoadRequest =
  | {
      readonly kind: 'open'
      readonly name: string
      readonly url: string
      readonly token: string
      readonly tasks: readonly LoadTask[]
      /** The states that each task goes round; it stands in the last of them. */
      readonly circuit: readonly string[]
      readonly connections: number
    }
  | { readonly kind: 'run'; readonly name: string; readonly requests: number }

export interface LoadTask {
  readonly id: string
  readonly version: number
}

/** Seconds that a run took; 0 for `open`. */
export type LoadAnswer = number

interface Task {
  readonly id: string
  version: number
  moves: number
}

interface Connection {
  readonly socket: Socket
  readonly tasks: readonly Task[]
  next: number
}

interface Target {
  readonly host: string
  readonly token: string
  readonly circuit: readonly string[]
  readonly connections: readonly Connection[]
}

const targets = new Map<string, Target>()

serveParent<LoadRequest, LoadAnswer>(async (request) => {
  if (request.kind === 'open') {
    targets.set(request.name, await open(request))
    return 0
  }
  const target = targets.get(request.name)
  if (!target) throw new Error(`Nothing named ${request.name} was opened.`)
  return run(target, request.requests)
})

async function open(request: LoadRequest & { kind: 'open' }): Promise<Target> {
  const { host, hostname, port } = new URL(request.url)
  const tasks = request.tasks.map((task): Task => ({ ...task, moves: 0 }))
  const connections = await Promise.all(
    Array.from({ length: request.connections }, async (_, index): Promise<Connection> => {
      const socket = connect(Number(port), hostname).setNoDelay(true)
      await once(socket, 'connect')
      // A task belongs to one connection, so that its versions come in order.
      return { socket, tasks: tasks.filter((_task, at) => at % request.connections === index), next: 0 }
    }),
  )
  return { host, token: request.token, circuit: request.circuit, connections }
}

async function run(target: Target, requests: number): Promise<number> {
  // Each connection sends its share, so that no task is asked to move more often than another.
  const share = requests / target.connections.length
  if (!Number.isInteger(share)) throw new Error(`${requests} requests can't be shared evenly.`)
  const since = performance.now()
  await Promise.all(target.connections.map((connection) => drive(target, connection, share)))
  return (performance.now() - since) / 1_000
}

function drive(target: Target, connection: Connection, requests: number): Promise<void> {
  const { socket } = connection
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let received = ''
  let left = requests
  const send = () => {
    if (left-- === 0) {
      resolve()
      return
    }
    const task = connection.tasks[connection.next++ % connection.tasks.length]
    if (!task) throw new Error('More connections than tasks.')
    socket.write(requestText(target, task))
    task.version++
    task.moves++
  }
  const onData = (chunk: Buffer) => {
    received += chunk.toString('latin1')
    const size = responseSize(received)
    if (size === null || received.length < size) return
    if (!received.startsWith('HTTP/1.1 200 ')) {
      reject(new Error(`Answered: ${received.slice(0, 2_000)}`))
      return
    }
    received = received.slice(size)
    send()
  }
  const onClose = () => reject(new Error('The server hung up.'))
  socket.on('data', onData)
  socket.once('close', onClose)
  send()
  return promise.finally(() => {
    socket.off('data', onData)
    socket.off('close', onClose)
  })
}

/** The next state of the circuit. */
function requestText({ host, token, circuit }: Target, { id, version, moves }: Task): string {
  const body = JSON.stringify({ status: circuit[moves % circuit.length], version })
  return (
    `POST /api/v1/tasks/${id}/transition HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\n` +
    `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  )
}

/** Bytes of the first response, null while its head is not complete. */
function responseSize(text: string): number | null {
  const end = text.indexOf('\r\n\r\n')
  if (end === -1) return null
  const length = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, end))?.[1]
  if (length === undefined) throw new Error(`A response without content-length: ${text.slice(0, end)}`)
  return end + 4 + Number(length)
}
