import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { get, request, type IncomingMessage } from 'node:http'
import { createConnection, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { buffer, text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { readMachine } from '../../../src-main/containment/machine.ts'
import { sshd } from '../../fakes/git-ssh-server.ts'
import { startSshJob, type SshJob } from '../../helpers/ssh-job.ts'
import { hasOwnNetworks } from '../../helpers/test-sshd.ts'

/** A dev server on the first port, and one that tells how much it got until the end on the second. */
const devServer = `
import { createServer } from 'node:http'
import { createServer as createTcp } from 'node:net'
const base = Number(process.env.SVC_PORT_BASE)
let written = 0
const server = createServer((request, response) => {
  if (request.url === '/big') {
    const more = () => {
      while (written < 60e6) {
        written += 1e6
        if (!response.write(Buffer.alloc(1e6, 'x'))) return response.once('drain', more)
      }
      response.end()
    }
    more()
  } else if (request.url === '/written') response.end(String(written))
  else if (request.url === '/stream') response.write('begun')
  else if (request.url === '/stop') response.end('stopped', () => process.exit())
  else response.end(process.env.SVC_TASK_TITLE)
})
server.on('upgrade', (_request, socket) => {
  socket.write('HTTP/1.1 101 Switching Protocols\\r\\nConnection: Upgrade\\r\\nUpgrade: echo\\r\\n\\r\\n')
  socket.pipe(socket)
})
server.listen(base, '127.0.0.1')
createTcp({ allowHalfOpen: true }, (socket) => {
  let size = 0
  socket.on('data', (chunk) => (size += chunk.length)).on('end', () => socket.end(String(size)))
}).listen(base + 1, '::')
`

const files = { 'dev-server.mjs': devServer }
const begin = `touch begun.txt; until [ -e go.txt ]; do sleep 0.1; done; rm go.txt; "${process.execPath}" dev-server.mjs; echo done`

/** Starts a task that serves once `serve` is called. */
async function startServing({ job, home, runner_id }: SshJob, containment: 'none' | 'worktree' = 'none') {
  const task = await job.task({ title: 'Served' })
  const config = { command: begin, containment }
  await job.claim(task, await job.running.client.call('agents.create', { name: 'Server', executor: 'command', config }))
  const { project_id } = await job.running.client.call('tasks.get', { task_id: task.id })
  const { port_base: base } = await job.running.taskWhere(task.id, (one) => one.port_base !== null)
  const worktree = join(home, '.copse-runner', runner_id, 'tasks', task.id, 'worktree')
  return {
    task,
    base: base ?? 0,
    serve: async () => {
      await expect.poll(() => existsSync(join(worktree, 'begun.txt')), patient).toBe(true)
      await writeFile(join(worktree, 'go.txt'), '')
    },
    previews: async () => (await job.running.client.call('tasks.previews', { project_id })).items,
  }
}

/** No event tells that something listens. */
const patient = { timeout: 20_000 }

const open = async (port: number, path: string): Promise<IncomingMessage> => {
  const [answer] = (await once(get({ port, host: '127.0.0.1', path, agent: false }), 'response')) as [IncomingMessage]
  return answer
}
const said = async (port: number, path = '/') => await text(await open(port, path))
const isClosed = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createConnection({ port, host: '127.0.0.1' }, () => {
      socket.destroy()
      resolve(false)
    }).once('error', () => resolve(true))
  })

const isPossible = sshd !== null && hasOwnNetworks
if (!isPossible) console.warn('left out: ports of machines over ssh (needs sshd, unshare and ip)')

test.runIf(isPossible)('reaches what a run listens on over ssh, through a cut link, until it ends', async () => {
  await using far = await startSshJob({ files, ownNetwork: true })
  const { task, base, serve, previews } = await startServing(far)
  expect(await previews()).toEqual([])
  await serve()
  await expect.poll(previews, patient).toEqual([{ port_base: base, port: base }])
  await expect.poll(() => isClosed(base + 1)).toBe(false)
  expect(await said(base)).toBe('Served')

  // Each way of a connection ends on its own.
  const half = createConnection({ port: base + 1, host: '127.0.0.1', allowHalfOpen: true })
  half.end(Buffer.alloc(3_000_000))
  expect(await text(half)).toBe('3000000')
  // A protocol that is no HTTP any more.
  const asked = request({ port: base, host: '127.0.0.1', headers: { connection: 'Upgrade', upgrade: 'echo' } }).end()
  const [, echo] = (await once(asked, 'upgrade')) as [IncomingMessage, Socket]
  echo.write('to and fro')
  expect(String(await once(echo, 'data'))).toBe('to and fro')
  // One that is not read stays where it is, and holds up no other.
  const streams = [await open(base, '/stream'), await open(base, '/stream')]
  const big = await open(base, '/big')
  let before = -1
  await expect
    .poll(async () => {
      const now = Number(await said(base, '/written'))
      const isStill = now === before
      before = now
      return isStill
    })
    .toBe(true)
  expect(before).toBeLessThan(40_000_000)
  for (const stream of streams) expect(String(await once(stream, 'data'))).toBe('begun')
  expect((await buffer(big)).length).toBe(60_000_000)

  const broken = [...streams, echo].map(
    (one) => new Promise((resolve) => one.on('error', () => undefined).once('close', resolve)),
  )
  far.server.cut()
  await Promise.all(broken)
  await expect.poll(previews, patient).toEqual([{ port_base: base, port: base }])
  expect(await said(base)).toBe('Served')

  expect(await said(base, '/stop')).toBe('stopped')
  await far.job.running.taskWhere(task.id, (one) => one.status === 'review' && !one.entry_barrier)
  await expect.poll(() => isClosed(base)).toBe(true)
  expect(await isClosed(base + 1)).toBe(true)
  expect(await previews()).toEqual([])
})

test.runIf(isPossible)('takes the next free number where another program has it', async () => {
  await using far = await startSshJob({ files, ownNetwork: true })
  const { base, serve, previews } = await startServing(far)
  const other = createServer((socket) => socket.on('error', () => undefined).end('other')).listen(base, '127.0.0.1')
  await once(other, 'listening')
  try {
    await serve()
    await expect.poll(previews, patient).toEqual([{ port_base: base, port: base + 1 }])
    expect(await said(base + 1)).toBe('Served')
    // The second one has the number after that.
    await expect.poll(() => isClosed(base + 2)).toBe(false)
    const half = createConnection({ port: base + 2, host: '127.0.0.1', allowHalfOpen: true }).end('four')
    expect(await text(half)).toBe('4')
  } finally {
    other.close()
  }
})

const levels = ['none', ...(sshd !== null && readMachine().available ? ['worktree' as const] : [])] as const

test.runIf(sshd !== null).each(levels)('leaves ports of this machine alone, contained: %s', async (level) => {
  await using far = await startSshJob({ files })
  const { base, serve, previews } = await startServing(far, level)
  await serve()
  await expect.poll(previews, patient).toEqual([{ port_base: base, port: base }])
  await expect.poll(() => isClosed(base + 1)).toBe(false)
  expect(await said(base)).toBe('Served')
  expect(await isClosed(base + 2)).toBe(true)
})
