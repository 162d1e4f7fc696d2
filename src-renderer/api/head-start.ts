import type { Client } from '../../src-shared/client/create-client.ts'
import { routes } from '../../src-shared/client/routes.ts'
import type { FeedItem } from '../../src-shared/contract/events.ts'
import { firstScreenParts } from '../../src-shared/contract/first-screen-parts.ts'
import type { OperationInput, OperationName } from '../../src-shared/contract/operations.ts'

/** A client that sends the first screen's requests while the screen's script is still loading. */
export interface HeadStart {
  readonly client: Client
  /**
   * Subscribes to the events, then requests the data of every screen and of the project's board.
   * Resolves once all replies have arrived or failed.
   */
  begin(projectId: string | null): Promise<void>
}

/**
 * Creates a client that gives each prefetched reply once, to the first identical call. Failed
 * replies are dropped. An event, a reset or a write of the page drops the remaining ones, because
 * they may be outdated.
 */
export function createPrefetch(client: Client): HeadStart {
  const answers = new Map<string, Promise<unknown>>()
  /** Calls that the page made before the prefetch: a prefetched reply would stay until it is outdated. */
  const taken = new Set<string>()
  let isOver = false
  let feed: { readonly items: AsyncIterable<FeedItem>; readonly stop: AbortController } | null = null

  /** Keeps an answer for the first call that asks for it. */
  async function keep(name: OperationName, input: object, ask: () => Promise<unknown>): Promise<void> {
    const key = keyOf(name, input)
    if (isOver || taken.has(key)) return
    const answer = ask()
    answers.set(key, answer)
    try {
      await answer
    } catch (error) {
      answers.delete(key)
      throw error
    }
  }
  const ask = <N extends OperationName>(name: N, input: OperationInput<N>): Promise<void> =>
    keep(name, input, () => client.call(name, input))

  /** Requests all that a board shows at first in one. */
  async function askBoard(project_id: string): Promise<void> {
    // What is missing is asked for alone, and refused with its own reason.
    const whole = client.call('projects.first_screen', { project_id }).catch(() => ({}) as Record<string, unknown>)
    const take = (name: OperationName, input: object) => keep(name, input, async () => (await whole)[name])
    const { ofService, ofProject } = firstScreenParts
    await Promise.all([
      ...ofService.map((name) => take(name, {})),
      ...ofProject.map((name) => take(name, { project_id })),
    ])
  }
  function end(): void {
    isOver = true
    answers.clear()
    taken.clear()
  }
  async function* watched(items: AsyncIterable<FeedItem>): AsyncIterable<FeedItem> {
    for await (const item of items) {
      if (item.kind === 'event' || item.kind === 'reset') end()
      yield item
    }
  }
  /** Resolves once the event subscription has begun. */
  function subscribe(): Promise<unknown> {
    const stop = new AbortController()
    const { items, begun } = started(watched(client.events({}, null, stop.signal)))
    feed = { items, stop }
    return begun
  }
  async function askAll(begun: Promise<unknown>, projectId: string | null): Promise<void> {
    // Requests from here on can't be older than the subscription.
    await begun
    if (projectId === null) await Promise.all([ask('system.get', {}), ask('projects.list', {})])
    else await askBoard(projectId)
  }
  return {
    client: {
      ...client,
      call: async (name, input) => {
        if (routes[name].method !== 'GET') end()
        const key = keyOf(name, input)
        if (!isOver) taken.add(key)
        const answer = answers.get(key)
        answers.delete(key)
        return ((await answer) as never) ?? (await client.call(name, input))
      },
      events: (input, after, signal) => {
        const early = feed
        feed = null
        if (early === null) return client.events(input, after, signal)
        signal.addEventListener('abort', () => early.stop.abort(), { once: true })
        return early.items
      },
    },
    async begin(projectId) {
      // The caller that takes the reply handles its failure.
      await Promise.allSettled([askAll(subscribe(), projectId)])
    },
  }
}

const keyOf = (name: OperationName, input: unknown) => `${name} ${JSON.stringify(input)}`

/** Returns the same items, but requests the first two at once: the begin marker and the first event. */
function started<T>(items: AsyncIterable<T>) {
  const iterator = items[Symbol.asyncIterator]()
  const [begun, first] = [iterator.next(), iterator.next()]
  for (const early of [begun, first]) early.catch(() => undefined)
  async function* all(): AsyncIterable<T> {
    for (const early of [begun, first]) {
      const { value, done } = await early
      if (done) return
      yield value
    }
    yield* { [Symbol.asyncIterator]: () => iterator }
  }
  return { items: all(), begun }
}
