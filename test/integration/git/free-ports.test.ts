import { createServer, type Server } from 'node:net'
import { expect, test } from 'vitest'
import { arePortsFree } from '../../../src-main/git/free-ports.ts'

async function listen(host: string): Promise<{ port: number } & AsyncDisposable> {
  const server: Server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen({ host, port: 0 }, resolve)
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('It listens nowhere.')
  return {
    port: address.port,
    [Symbol.asyncDispose]: async () => {
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const hosts = ['127.0.0.1', '0.0.0.0', '::1', '::', ...(process.platform === 'linux' ? ['127.0.0.2'] : [])]

test.each(hosts)('counts a port at %s as in use while a program listens', async (host) => {
  const { port } = await (async () => {
    await using server = await listen(host)
    expect(await arePortsFree([server.port])).toBe(false)
    return server
  })()
  expect(await arePortsFree([port])).toBe(true)
})

test('skips a range with one port in use', async () => {
  await using server = await listen('127.0.0.1')
  const range = [1, 2, 3].map((step) => server.port - step)
  expect(await arePortsFree([...range, server.port])).toBe(false)
})

test('leaves nothing behind that would keep a server from starting', async () => {
  const found = await listen('127.0.0.1')
  await found[Symbol.asyncDispose]()
  const { port } = found
  expect(await arePortsFree([port])).toBe(true)
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen({ host: '0.0.0.0', port }, resolve)
  })
  await new Promise((resolve) => server.close(resolve))
})
