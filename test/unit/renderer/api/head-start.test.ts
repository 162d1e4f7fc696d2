import { expect, test } from 'vitest'
import { createPrefetch } from '../../../../src-renderer/api/head-start.ts'
import type { Client } from '../../../../src-shared/client/create-client.ts'
import { ApiError } from '../../../../src-shared/contract/errors.ts'
import { firstScreenParts } from '../../../../src-shared/contract/first-screen-parts.ts'
import type { FeedItem } from '../../../../src-shared/contract/events.ts'

interface SetUp {
  readonly refused?: readonly string[]
  /** Parts that the answer of all lacks. */
  readonly missing?: readonly string[]
  readonly items?: readonly FeedItem[]
  readonly begins?: Promise<void>
}

/** A service that records requests and answers each with its count. */
function setUp({ refused = [], missing = [], items = [], begins = Promise.resolve() }: SetUp = {}) {
  const asked: string[] = []
  const client: Client = {
    call: async (name) => {
      asked.push(name)
      if (refused.includes(name)) throw new ApiError({ code: 'not_found', message: 'No.' })
      const count = asked.filter((one) => one === name).length
      return (name === 'projects.first_screen' ? firstScreen(missing) : count) as never
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
/** Each part is told by its name. */
const firstScreen = (missing: readonly string[]) =>
  Object.fromEntries(
    [...firstScreenParts.ofService, ...firstScreenParts.ofProject]
      .filter((name) => !missing.includes(name))
      .map((name) => [name, `early ${name}`]),
  )
const settled = () => new Promise((resolve) => setImmediate(resolve))
const board = { project_id: 'p' }

test('fetches what the first screen needs after the subscription, and returns it once', async () => {
  const { asked, client, begin } = setUp()
  void begin('p')
  await settled()
  const early = ['events', 'projects.first_screen']
  expect(asked).toEqual(early)
  expect(await client.call('tasks.board', board)).toBe('early tasks.board')
  expect(await client.call('agents.list', {})).toBe('early agents.list')
  expect(asked).toEqual(early)
  expect(await client.call('tasks.board', board)).toBe(1)
  expect(await client.call('tasks.board', { project_id: 'other' })).toBe(2)
})

test('fetches what every screen needs where no project is open', async () => {
  const { asked, begin } = setUp()
  await begin(null)
  expect(asked).toEqual(['events', 'system.get', 'projects.list'])
})

test('fetches nothing before the subscription has begun, because it would be too old', async () => {
  const begins = Promise.withResolvers<void>()
  const { asked, begin } = setUp({ begins: begins.promise })
  void begin('p')
  await settled()
  expect(asked).toEqual(['events'])
  begins.resolve()
  await settled()
  expect(asked).toEqual(['events', 'projects.first_screen'])
})

test('says when all of it has come or was refused, so that the first screen is drawn with it', async () => {
  const begins = Promise.withResolvers<void>()
  const { begin } = setUp({ begins: begins.promise, refused: ['projects.first_screen'] })
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
  const refused = ['projects.get_workflow']
  const { asked, client, begin } = setUp({ refused, missing: refused })
  expect(await client.call('tasks.board', board)).toBe(1)
  void begin('p')
  await settled()
  // Not before a screen asks for it, which may not.
  expect(asked).not.toContain('projects.get_workflow')
  await expect(client.call('projects.get_workflow', board)).rejects.toThrow('No.')
})

test('fetches each part alone where all in one can’t be had', async () => {
  const { client, begin } = setUp({ refused: ['projects.first_screen'] })
  await begin('p')
  expect(await client.call('projects.get_workflow', board)).toBe(1)
  expect(await client.call('agents.list', {})).toBe(1)
})

test('drops an answer from before a change', async () => {
  const own = setUp()
  void own.begin('p')
  await settled()
  await own.client.call('projects.update', { project_id: 'p', name: 'Ferry' })
  expect(await own.client.call('projects.get_workflow', board)).toBe(1)

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
