import { expect, test } from 'vitest'
import { createOutbox } from '../../../src-main/core/outbox.ts'

/** Creates an outbox over lists in memory; `perform` decides about an item, which is done at once by default. */
function outboxWith(
  perform: (item: string, signal: AbortSignal) => Promise<'done' | 'wait'> | undefined = () => undefined,
) {
  const pending = new Map<string, string[]>()
  const begun: string[] = []
  const broken: unknown[] = []
  const outbox = createOutbox<string, string>({
    next: (lane) => pending.get(lane)?.[0] ?? null,
    perform: async (item, signal) => {
      begun.push(item)
      const end = (await perform(item, signal)) ?? 'done'
      if (end === 'done') for (const items of pending.values()) if (items[0] === item) items.shift()
      return end
    },
    onBroken: (error) => broken.push(error),
  })
  const isEmpty = (lane: string) => () => (pending.get(lane)?.length ?? 0) === 0
  return { outbox, pending, begun, broken, isEmpty }
}

/** Work that runs until its signal aborts. */
const untilAborted = (signal: AbortSignal) =>
  new Promise<'wait'>((resolve) => {
    signal.addEventListener('abort', () => {
      resolve('wait')
    })
  })

test('performs the items of a lane in order and lanes in parallel', async () => {
  const { outbox, pending, begun, isEmpty } = outboxWith((item, signal) =>
    item === 'a1' ? untilAborted(signal) : undefined,
  )
  pending.set('a', ['a1', 'a2']).set('b', ['b1', 'b2'])
  outbox.wake('a')
  outbox.wake('b')
  await outbox.until('b', isEmpty('b'))
  expect(begun).toEqual(['a1', 'b1', 'b2'])
  expect(outbox.isIdle('a')).toBe(false)
  await outbox.close()
  expect(begun).not.toContain('a2')
})

test('performs a waiting item again only when its lane is woken', async () => {
  let answer: 'done' | 'wait' = 'wait'
  const { outbox, pending, begun, isEmpty } = outboxWith(() => Promise.resolve(answer))
  pending.set('a', ['a1'])
  outbox.wake('a')
  await outbox.until('a', () => outbox.isIdle('a'))
  expect(begun).toEqual(['a1'])
  answer = 'done'
  outbox.wake('a')
  await outbox.until('a', isEmpty('a'))
  expect(begun).toEqual(['a1', 'a1'])
})

test('looks for work again after an interrupt', async () => {
  const { outbox, pending, begun, isEmpty } = outboxWith((item, signal) =>
    item === 'old' ? untilAborted(signal) : undefined,
  )
  pending.set('a', ['old'])
  outbox.wake('a')
  pending.set('a', ['new'])
  outbox.interrupt('a', () => new Error('superseded'))
  await outbox.until('a', isEmpty('a'))
  expect(begun).toEqual(['old', 'new'])
})

test('reports an item that breaks once and leaves it for the next wake', async () => {
  const { outbox, pending, begun, broken } = outboxWith(() => Promise.reject(new Error('broken')))
  pending.set('a', ['a1'])
  outbox.wake('a')
  await outbox.until('a', () => outbox.isIdle('a'))
  expect([begun, broken.map(String), pending.get('a')]).toEqual([['a1'], ['Error: broken'], ['a1']])
})

test('begins nothing after closing, and aborts what it waits for', async () => {
  const { outbox, pending, begun, isEmpty } = outboxWith()
  await outbox.close()
  pending.set('a', ['a1'])
  outbox.wake('a')
  await outbox.until('a', isEmpty('a'), AbortSignal.abort())
  expect(begun).toEqual([])
})
