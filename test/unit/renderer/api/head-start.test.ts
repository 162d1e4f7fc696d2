import { expect, test } from 'vitest'
import { createPrefetch } from '../../../../src-renderer/api/head-start.ts'
import type { Client } from '../../../../src-shared/client/create-client.ts'
import { ApiError } from '../../../../src-shared/contract/errors.ts'
import type { FeedItem } from '../../../../src-shared/contract/events.ts'

interface SetUp {
  readonly refused?: readonly string[]
  readonly items?: readonly FeedItem[]
  readonly begins?: Promise<void>
}

/** A service that records requests and answers each with its count. */
function setUp({ refused = [], items = [], begins = Promise.resolve() }: SetUp = {}) {
  const asked: string[] = []
  const client: Client = {
    call: async (name) => {
      asked.push(name)
      if (refused.includes(name)) throw new ApiError({ code: 'not_found', message: 'No.' })
      return asked.filter((one) => one === name).length as never
    },
    events: async function* (_, __, signal) {
      asked.push('events')
      await begins
      yield { kind: 'begun', seq: 0 }
      yield* items
      if (signal.aborted) asked.push('events were left')
    },
    transcript: () => expect.fail('Nobody asks for it.'),
  }
  return { asked, ...createPrefetch(client) }
}
const settled = () => new Promise((resolve) => setImmediate(resolve))
const board = { project_id: 'p' }

test('fetches what the first screen needs after the subscription, and returns it once', async () => {
  const { asked, client, begin } = setUp()
  void begin('p')
  await settled()
  const early = [
    'events',
    'system.get',
    'projects.list',
    'tasks.board',
    'projects.get_workflow',
    'projects.get_settings',
  ]
  expect(asked).toEqual(early)
  expect(await client.call('tasks.board', board)).toBe(1)
  expect(asked).toEqual(early)
  expect(await client.call('tasks.board', board)).toBe(2)
  expect(await client.call('tasks.board', { project_id: 'other' })).toBe(3)
})

test('fetches nothing before the subscription has begun, because it would be too old', async () => {
  const begins = Promise.withResolvers<void>()
  const { asked, begin } = setUp({ begins: begins.promise })
  void begin('p')
  await settled()
  expect(asked).toEqual(['events'])
  begins.resolve()
  await settled()
  expect(asked).toHaveLength(6)
})

test('says when all of it has come or was refused, so that the first screen is drawn with it', async () => {
  const begins = Promise.withResolvers<void>()
  const { begin } = setUp({ begins: begins.promise, refused: ['tasks.board'] })
  let isOver = false
  const over = begin('p').then(() => (isOver = true))
  await settled()
  expect(isOver).toBe(false)
  begins.resolve()
  await over
})

test('hands the first subscription over whole, and opens a new one afterwards', async () => {
  const items = [1, 2].map((seq): FeedItem => ({ kind: 'reset', seq }))
  const { asked, client, begin } = setUp({ items })
  void begin(null)
  await settled()
  const stop = new AbortController()
  const seen: FeedItem[] = []
  for await (const item of client.events({}, null, stop.signal)) {
    seen.push(item)
    if (seen.length === 3) stop.abort()
  }
  expect(seen).toEqual([{ kind: 'begun', seq: 0 }, ...items])
  expect(asked.at(-1)).toBe('events were left')
  await client.events({}, 2, new AbortController().signal)[Symbol.asyncIterator]().next()
  expect(asked.at(-1)).toBe('events')
})

test('fetches again what was refused', async () => {
  const { asked, client, begin } = setUp({ refused: ['projects.get_workflow'] })
  expect(await client.call('tasks.board', board)).toBe(1)
  void begin('p')
  await settled()
  await expect(client.call('projects.get_workflow', board)).rejects.toThrow('No.')
  expect(asked.filter((name) => name === 'projects.get_workflow')).toHaveLength(2)
})

test('drops an answer from before a change', async () => {
  const own = setUp()
  void own.begin('p')
  await settled()
  await own.client.call('projects.update', { project_id: 'p', name: 'Ferry' })
  expect(await own.client.call('projects.get_workflow', board)).toBe(2)

  // The earlier answers may be from before the change, so they are dropped.
  const heard = setUp({ items: [{ kind: 'reset', seq: 1 }] })
  void heard.begin('p')
  await settled()
  const before = heard.asked.length
  await heard.client.call('system.get', {})
  expect(heard.asked).toHaveLength(before + 1)
})

test('does not fetch what the page has already fetched itself', async () => {
  const { asked, client, begin } = setUp()
  void begin('p')
  expect(await client.call('projects.get_workflow', board)).toBe(1)
  await settled()
  expect(asked.filter((name) => name === 'projects.get_workflow')).toHaveLength(1)
  expect(await client.call('projects.get_workflow', board)).toBe(2)
})
