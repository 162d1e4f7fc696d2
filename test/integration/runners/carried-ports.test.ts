import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createConnection, createServer, type AddressInfo } from 'node:net'
import { duplexPair, type Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { createCarriedPorts } from '../../../src-main/places/remote/carried-ports.ts'
import { portsFrom } from '../../../src-main/workspaces/rules/port-ranges.ts'
import { acceptLink, openLink } from '../../../src-main/platform/link/link.ts'
import { linesOf } from '../../../src-main/platform/link/lines.ts'
import { createLogger } from '../../../src-main/platform/logging/log.ts'
import { ownNetwork } from '../../../src-main/platform/process/own-network.ts'
import { spawnTree } from '../../../src-main/platform/process/process.ts'
import { createJobPorts } from '../../../src-main/runner/job-ports.ts'
import type { JobId, RunnerId } from '../../../src-shared/contract/ids.ts'
import { maxPortsLine, portsConnection, type WantedConnection } from '../../../src-shared/contract/link-ports.ts'

const log = createLogger({ level: 'silent' })
const runner_id = randomUUID() as RunnerId

/** Ten numbers that nothing uses now. */
async function freePorts(): Promise<readonly number[]> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return Array.from({ length: 10 }, (_, index) => Math.min(port, 65_000) + index)
}

/** A service with one job, and a runner that says what the test says. */
async function startLink() {
  const carried = createCarriedPorts({ log, portsFrom })
  const job = randomUUID() as JobId
  const ports = await freePorts()
  const allowed = carried.allow({ job, runner_id, ports })
  const [here, there] = duplexPair()
  const ofLink = carried.ofLink({ runner_id, job_id: null })
  const refused: string[] = []
  acceptLink(here, (connection, to) => {
    if (ofLink.take(connection, to)) return
    refused.push(to)
    connection.destroy()
  })
  const link = openLink(there)
  const telling = link.connect(portsConnection) ?? expect.unreachable()
  onTestFinished(async () => {
    link.close()
    await ofLink.close()
  })
  const tell = (listening: readonly { job: string; port: number }[], network: string | null = null): void =>
    void telling.write(`${JSON.stringify({ kind: 'listening', network, ports: listening })}\n`)
  return {
    carried,
    job,
    ports,
    allowed,
    link,
    telling,
    tell,
    refused,
    reached: () => carried.reached(runner_id, ports),
  }
}

const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createConnection({ port, host: '127.0.0.1' }, () => {
      socket.destroy()
      resolve(true)
    }).once('error', () => resolve(false))
  })

test('opens the ports of the worktree alone, while its job lasts', async () => {
  const { carried, job, ports, allowed, tell, reached } = await startLink()
  const [first = 0, second = 0] = ports
  const others = await freePorts()
  const stranger = randomUUID() as JobId
  carried.allow({ job: stranger, runner_id: randomUUID() as RunnerId, ports: others })
  tell([
    { job, port: second },
    { job, port: first },
    { job, port: first },
    // Below 1024, of no worktree, of another runner's job, of a job that there is none of.
    { job, port: 80 },
    { job, port: first - 1 },
    { job: stranger, port: others[0] ?? 0 },
    { job: randomUUID(), port: ports[5] ?? 0 },
  ])
  await expect.poll(reached).toEqual([first, second])
  expect(await isOpen(first)).toBe(true)
  for (const port of [80, first - 1, others[0] ?? 0, ports[5] ?? 0]) expect(await isOpen(port)).toBe(false)
  tell([{ job, port: second }])
  await expect.poll(reached).toEqual([second])
  expect(await isOpen(first)).toBe(false)
  allowed[Symbol.dispose]()
  await expect.poll(reached).toEqual([])
  expect(await isOpen(second)).toBe(false)
})

test('opens none for a runner that tells of thousands, or nothing that is understood', async () => {
  for (const lie of [
    (job: string) =>
      JSON.stringify({
        kind: 'listening',
        network: null,
        ports: Array.from({ length: 10_000 }, (_, index) => ({ job, port: index + 1 })),
      }),
    () => 'x'.repeat(maxPortsLine + 1),
    () => '{"kind":"listening"}',
  ]) {
    const { job, ports, telling, tell, reached } = await startLink()
    tell([{ job, port: ports[0] ?? 0 }])
    await expect.poll(reached).toEqual([ports[0]])
    const closed = once(telling, 'close')
    telling.write(`${lie(job)}\n`)
    await closed
    await expect.poll(reached).toEqual([])
    expect(await isOpen(ports[0] ?? 0)).toBe(false)
  }
})

test('takes no connection that it has not asked for, and one refusal for each', async () => {
  const { job, ports, link, telling, tell, refused, reached } = await startLink()
  const [port = 0] = ports
  tell([{ job, port }])
  await expect.poll(reached).toEqual([port])
  const unasked = link.connect(randomUUID()) ?? expect.unreachable()
  await once(unasked, 'close')
  // A second one that tells of ports.
  await once(link.connect(portsConnection) ?? expect.unreachable(), 'close')
  expect(refused).toHaveLength(2)
  const lines = linesOf(telling, maxPortsLine)
  const next = async () => JSON.parse((await lines.next()).value ?? '') as WantedConnection
  const visitor = createConnection({ port, host: '127.0.0.1' })
  const wanted = await next()
  expect(wanted).toMatchObject({ job, port })
  telling.write(`${JSON.stringify({ kind: 'refused', connection: wanted.connection })}\n`)
  await once(visitor, 'close')
  const other = createConnection({ port, host: '127.0.0.1' })
  other.end('to')
  const made = link.connect((await next()).connection) ?? expect.unreachable()
  expect(await text(made)).toBe('to')
  made.end('fro')
  expect(await text(other)).toBe('fro')
})

test.runIf(ownNetwork() !== null)('opens none for what is in its own network', async () => {
  const { job, ports, tell, reached } = await startLink()
  tell([{ job, port: ports[0] ?? 0 }], ownNetwork())
  await expect.poll(reached).toEqual([ports[0]])
  expect(await isOpen(ports[0] ?? 0)).toBe(false)
})

const listen = `require('node:net').createServer((s) => s.end('its')).listen(+process.argv[1], '127.0.0.1')`

test.runIf(process.platform === 'linux')('connects to what its jobs listen on, and to nothing else there', async () => {
  const [port = 0] = await freePorts()
  const [job, other] = [randomUUID() as JobId, randomUUID() as JobId]
  const own = createServer((socket) => socket.end('own')).listen(0, '127.0.0.1')
  await once(own, 'listening')
  const tree = await spawnTree(process.execPath, ['-e', listen, String(port)], {
    cwd: process.cwd(),
    env: { PATH: process.env['PATH'] ?? '' },
    processMarker: job,
    stdin: 'ignore',
  })
  const ports = createJobPorts(log)
  using _ = ports.watch({ job, execution_id: null })
  const connections = new Map<string, PromiseWithResolvers<Duplex>>()
  const of = (name: string): PromiseWithResolvers<Duplex> => {
    const known = connections.get(name) ?? Promise.withResolvers<Duplex>()
    connections.set(name, known)
    return known
  }
  const [here, there] = duplexPair()
  acceptLink(here, (connection, to) => of(to).resolve(connection))
  const link = openLink(there)
  ports.carry(link)
  try {
    const telling = await of(portsConnection).promise
    const lines = linesOf(telling, maxPortsLine)
    const next = async () => JSON.parse((await lines.next()).value ?? '') as unknown
    const ask = (wanted: Omit<WantedConnection, 'connection'>): string => {
      const connection = randomUUID()
      telling.write(`${JSON.stringify({ ...wanted, connection })}\n`)
      return connection
    }
    expect(await next()).toEqual({ kind: 'listening', network: ownNetwork(), ports: [{ job, port }] })
    expect(await text(await of(ask({ job, port })).promise)).toBe('its')
    const own_port = (own.address() as AddressInfo).port
    for (const wanted of [
      { job, port: own_port },
      { job: other, port },
    ]) {
      const connection = ask(wanted)
      expect(await next()).toEqual({ kind: 'refused', connection })
    }
  } finally {
    link.close()
    own.close()
    await tree.stop({ graceMs: 0 })
  }
})
