import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { describe, expect, it } from 'vitest'
import { findOnPath } from '../../../../src-main/platform/process/find-on-path.ts'
import { findPeerTrees } from '../../../../src-main/platform/process/peer-tree.ts'
import { spawnTree } from '../../../../src-main/platform/process/process.ts'

const env = { PATH: process.env['PATH'] ?? '' }
const place = { cwd: process.cwd(), env, stdin: 'pipe' } as const
/** Connects to the port and host of its arguments, and stays. */
const stay = `require('node:net').connect(process.argv[1], process.argv[2]); process.stdin.resume().on('end', () => process.exit())`
/** Connects, and leaves at once. */
const leave = `const s = require('node:net').connect(process.argv[1], process.argv[2], () => process.exit())`
/** Has its connection in a message to itself, where no process has it open. */
const hide = `
import socket, sys
c = socket.create_connection((sys.argv[2], int(sys.argv[1])))
a, b = socket.socketpair()
socket.send_fds(a, [b'x'], [c.fileno()])
c.close()
print('hidden', flush=True)
sys.stdin.read()
`

async function listen(host: string) {
  const server = createServer().listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port: String(port),
    accept: async () => ((await once(server, 'connection')) as [Socket])[0].resume().on('error', () => undefined),
    [Symbol.dispose]: () => void server.close(),
  }
}

async function startTree(args: readonly string[], file = process.execPath) {
  const tree = await spawnTree(file, args, place)
  return { ...tree, [Symbol.asyncDispose]: () => tree.stop({ graceMs: 0 }) }
}

describe.runIf(process.platform === 'linux')('the tree at the other end', () => {
  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['::1', '::1'],
    ['::', '127.0.0.1'],
    ['::', '::ffff:127.0.0.1'],
  ])('is found on %s from %s, and not for a program outside of it', async (on, from) => {
    using server = await listen(on)
    const first = server.accept()
    const outside = spawn(process.execPath, ['-e', stay, server.port, from], { stdio: ['pipe', 'ignore', 'inherit'] })
    const ofNone = await first
    expect(await findPeerTrees(ofNone)).toBeNull()
    const second = server.accept()
    await using tree = await startTree(['-e', stay, server.port, from])
    const ofTree = await second
    expect(await findPeerTrees(ofTree)).toMatchObject([{ pid: tree.process.pid }])
    expect(await findPeerTrees(ofNone)).toBeNull()
    await tree.stop()
    expect(await findPeerTrees(ofTree)).toBeNull()
    outside.stdin.end()
    await once(outside, 'exit')
  })

  it('can’t be told of a program that is gone', async () => {
    using server = await listen('127.0.0.1')
    await using _ = await startTree(['-e', 'process.stdin.resume()'])
    const accepted = server.accept()
    const outside = spawn(process.execPath, ['-e', leave, server.port, '127.0.0.1'])
    const socket = await accepted
    await once(outside, 'exit')
    expect(await findPeerTrees(socket)).toEqual([])
  })

  it('can’t be told of a connection that no process has open', async ({ skip }) => {
    const python = findOnPath('python3')
    if (python === null) return skip()
    using server = await listen('127.0.0.1')
    const accepted = server.accept()
    await using tree = await startTree(['-c', hide, server.port, '127.0.0.1'], python)
    const socket = await accepted
    await once(createInterface({ input: tree.stdout }), 'line')
    expect(await findPeerTrees(socket)).toEqual([])
  })
})
