import type { Client } from '../../src-shared/client/create-client.ts'
import type { FeedItem } from '../../src-shared/contract/events.ts'
import type { OperationInput, OperationName, OperationOutput } from '../../src-shared/contract/operations.ts'

/** A client that has asked already for what the first screen will ask for, while its script was on its way. */
export interface HeadStart {
  readonly client: Client
  /** Subscribes to the events, then asks for what every screen needs, and for the board of the project. */
  begin(projectId: string | null): void
}

/** Each answer is given out once, to the first that asks the same; one that failed to nobody who asks later. */
export function createHeadStart(client: Client): HeadStart {
  const answers = new Map<string, Promise<unknown>>()
  let feed: { readonly items: AsyncIterable<FeedItem>; readonly end: AbortController } | null = null

  async function ask<N extends OperationName>(name: N, input: OperationInput<N>): Promise<OperationOutput<N>> {
    const key = keyOf(name, input)
    const answer = client.call(name, input)
    answers.set(key, answer)
    try {
      return await answer
    } catch (error) {
      answers.delete(key)
      throw error
    }
  }
  function subscribe(): void {
    const end = new AbortController()
    feed = { items: started(client.events({}, null, end.signal)), end }
  }
  async function askAll(projectId: string | null): Promise<void> {
    // What is asked for once this is answered cannot be older than the subscription.
    await ask('system.get', {})
    const board = projectId === null ? null : { project_id: projectId }
    await Promise.all([
      ask('projects.list', {}),
      board && ask('tasks.board', board),
      board && ask('projects.get_workflow', board),
      board && ask('projects.get_settings', board),
    ])
  }
  return {
    client: {
      ...client,
      call: async (name, input) => {
        const key = keyOf(name, input)
        const answer = answers.get(key)
        answers.delete(key)
        return answer === undefined ? client.call(name, input) : ((await answer) as never)
      },
      events: (input, after, signal) => {
        const begun = feed
        feed = null
        if (begun === null) return client.events(input, after, signal)
        signal.addEventListener('abort', () => begun.end.abort(), { once: true })
        return begun.items
      },
    },
    begin(projectId) {
      subscribe()
      // Whoever asks for it hears of a failure.
      void Promise.allSettled([askAll(projectId)])
    },
  }
}

const keyOf = (name: OperationName, input: unknown) => `${name} ${JSON.stringify(input)}`

/** The same items, of which the first is asked for at once. */
function started<T>(items: AsyncIterable<T>): AsyncIterable<T> {
  const iterator = items[Symbol.asyncIterator]()
  const first = iterator.next()
  first.catch(() => undefined)
  return (async function* () {
    const { value, done } = await first
    if (done) return
    yield value
    yield* { [Symbol.asyncIterator]: () => iterator }
  })()
}
