import { expect, test } from 'vitest'
import { followRawLog } from '../../../../src-renderer/features/execution/raw-log.ts'
import type { Client } from '../../../../src-shared/client/create-client.ts'
import { ApiError } from '../../../../src-shared/contract/errors.ts'

const id = '01990000-0000-7000-8000-000000000001'
const name = `agent-${id}.raw.log`

/** A service with one raw log, and a reader that records its calls. `calls` may throw before a read is answered. */
function fakes(log: Buffer, beforeRead: (n: number) => void = () => undefined, size = log.length) {
  const told: string[] = []
  let reads = 0
  const call = (operation: string, input: { offset?: number; limit?: number }) => {
    if (operation === 'executions.logs') {
      return Promise.resolve({ items: size === 0 ? [] : [{ name, kind: 'agent', size, updated_at: '' }] })
    }
    return Promise.resolve().then(() => {
      beforeRead(++reads)
      const { offset = 0, limit = 0 } = input
      const piece = log.subarray(offset, offset + limit)
      const next_offset = offset + piece.length
      return { data_base64: piece.toString('base64'), next_offset, complete: next_offset >= log.length }
    })
  }
  const written: Uint8Array[] = []
  const reader = {
    write: (bytes: Uint8Array) => {
      written.push(bytes)
      return Promise.resolve()
    },
    cut: () => void told.push('cut'),
    caughtUp: () => void told.push(`caught up at ${Buffer.concat(written).length}`),
    mayCome: () => false,
  }
  const client = { call } as unknown as Pick<Client, 'call'>
  return { client, reader, told, written: () => Buffer.concat(written) }
}
const { signal } = new AbortController()
const atOnce = () => Promise.resolve()

test('reads a log once and in order, and marks what is new', async () => {
  const log = Buffer.from('x'.repeat(600_000) + 'news'.repeat(100_000))
  const its = fakes(log, undefined, 600_000)
  await followRawLog(its.client, id, its.reader, signal, atOnce)
  expect(its.written().equals(log)).toBe(true)
  expect(its.told).toHaveLength(1)
  expect(its.told[0]).toBe('caught up at 786432')
})

test('reads only the tail of a long log', async () => {
  const log = Buffer.alloc(6 * 1024 * 1024, 'y')
  log.write('the end', log.length - 7)
  const its = fakes(log)
  await followRawLog(its.client, id, its.reader, signal, atOnce)
  expect(its.told[0]).toBe('cut')
  expect(its.written()).toHaveLength(4 * 1024 * 1024)
  expect(its.written().subarray(-7).toString()).toBe('the end')
})

test('survives a lost connection', async () => {
  const log = Buffer.from('z'.repeat(700_000))
  const its = fakes(log, (n) => {
    if (n === 2) throw new TypeError('fetch failed')
  })
  await followRawLog(its.client, id, its.reader, signal, atOnce)
  expect(its.written().equals(log)).toBe(true)
})

test('does not ask again for a missing log, but does for a run that has not begun', async () => {
  const missing = new ApiError({ code: 'not_found', message: "This log doesn't exist." })
  const never = fakes(
    Buffer.alloc(0),
    () => {
      throw missing
    },
    0,
  )
  await followRawLog(never.client, id, never.reader, signal, () => Promise.reject(new Error('asked again')))
  const soon = fakes(
    Buffer.from('here'),
    (n) => {
      if (n < 3) throw missing
    },
    0,
  )
  await followRawLog(soon.client, id, { ...soon.reader, mayCome: () => true }, signal, atOnce)
  expect(soon.written().toString()).toBe('here')
})
