import { expect, test } from 'vitest'
import { createIpcTransport } from '../../../src-shared/client/ipc-transport.ts'
import type { CallReply, DesktopBridge, StreamReply } from '../../../src-shared/contract/desktop.ts'
import { ApiError } from '../../../src-shared/contract/errors.ts'

const reset = (seq: number): StreamReply => ({ kind: 'item', item: { kind: 'reset', seq } })

/** A window's bridge whose main process is this test. */
function bridge(reply: CallReply = { ok: true, value: null }) {
  const asked: unknown[] = []
  let push: (reply: StreamReply) => void = () => undefined
  let open = 0
  const desktop: DesktopBridge = {
    platform: 'linux',
    call: (...args) => {
      asked.push(args)
      return Promise.resolve(reply)
    },
    subscribe: (stream, input, after, onReply) => {
      asked.push([stream, input, after])
      push = onReply
      open += 1
      return () => {
        open -= 1
      }
    },
    pickFolder: () => Promise.resolve(null),
    showFolder: () => Promise.resolve(),
    folderTools: () => Promise.resolve([]),
    openFolder: () => Promise.resolve(false),
    openFile: () => Promise.resolve(false),
    notify: () => undefined,
    setBadge: () => undefined,
    listen: () => undefined,
    change: () => Promise.resolve(),
    update: () => Promise.resolve(),
    setPreferences: () => undefined,
  }
  return { desktop, asked, push: (item: StreamReply) => push(item), open: () => open }
}

test('returns the value of a call, and throws a refusal as ApiError', async () => {
  const good = bridge({ ok: true, value: { id: 1 } })
  expect(await createIpcTransport(good.desktop).call('tasks.get', { task_id: 't' })).toEqual({ id: 1 })
  expect(good.asked).toEqual([['tasks.get', { task_id: 't' }]])

  const error = { code: 'already_claimed', message: 'Somebody has it.', details: { by: 'x' } } as const
  const refused: unknown = await createIpcTransport(bridge({ ok: false, error }).desktop)
    .call('tasks.get', {})
    .catch((cause: unknown) => cause)
  expect(refused).toBeInstanceOf(ApiError)
  expect(refused).toMatchObject({ ...error, status: 409 })
})

test('streams items in order, also those pushed early, and ends with the service’s end', async () => {
  const { desktop, push, open, asked } = bridge()
  const stream = createIpcTransport(desktop).stream('events.stream', {}, 7, new AbortController().signal)
  const iterator = stream[Symbol.asyncIterator]()
  const first = iterator.next()
  push(reset(1))
  push(reset(2))
  push({ kind: 'end' })
  expect(asked).toEqual([['events.stream', {}, 7]])
  expect([await first, await iterator.next(), await iterator.next()].map((step) => step.value as unknown)).toEqual([
    { kind: 'reset', seq: 1 },
    { kind: 'reset', seq: 2 },
    undefined,
  ])
  expect(open()).toBe(0)
})

test('throws the error of a failed stream and unsubscribes', async () => {
  const { desktop, push, open } = bridge()
  const iterator = createIpcTransport(desktop)
    .stream('executions.stream', {}, null, new AbortController().signal)
    [Symbol.asyncIterator]()
  const next = iterator.next()
  push({ kind: 'failed', error: { code: 'not_a_member', message: 'No.' } })
  await expect(next).rejects.toMatchObject({ code: 'not_a_member' })
  expect(open()).toBe(0)
})

test('unsubscribes on abort and when the loop is left', async () => {
  const { desktop, push, open } = bridge()
  const controller = new AbortController()
  const waiting = createIpcTransport(desktop)
    .stream('events.stream', {}, null, controller.signal)
    [Symbol.asyncIterator]()
    .next()
  expect(open()).toBe(1)
  controller.abort()
  expect(await waiting).toEqual({ done: true, value: undefined })
  expect(open()).toBe(0)

  const left = createIpcTransport(desktop).stream('events.stream', {}, null, new AbortController().signal)
  const loop = (async () => {
    for await (const _ of left) break
  })()
  push(reset(1))
  await loop
  expect(open()).toBe(0)
})
