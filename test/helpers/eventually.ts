import type { Client } from '../../src-shared/client/create-client.ts'

/** Subscribes first, then checks after every event, so that no change is missed. */
export async function eventually<T>(client: Client, read: () => Promise<T>, fits: (value: T) => boolean): Promise<T> {
  const stop = new AbortController()
  const tooLong = AbortSignal.timeout(100_000)
  const items = client.events({}, null, AbortSignal.any([stop.signal, tooLong]))[Symbol.asyncIterator]()
  let value: T | undefined
  try {
    for (;;) {
      const next = items.next()
      next.catch(() => undefined)
      value = await read()
      if (fits(value)) return value
      if ((await next).done) throw new Error('The events ended.')
    }
  } catch (error) {
    if (!tooLong.aborted) throw error
    throw new Error(`It never became what the test waits for; it is ${JSON.stringify(value, null, 1)}`, {
      cause: error,
    })
  } finally {
    stop.abort()
  }
}
