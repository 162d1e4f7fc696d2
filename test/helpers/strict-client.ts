import { z } from 'zod'
import type { Client } from '../../src-shared/client/create-client.ts'
import { eventPayloads } from '../../src-shared/contract/events.ts'
import type { FeedItem } from '../../src-shared/contract/events.ts'
import { operations } from '../../src-shared/contract/operations.ts'

/** A client that fails on every answer and event that the contract does not describe to the last key. */
export function strictClient(client: Client): Client {
  return {
    call: async (name, input) => {
      const output = await client.call(name, input)
      checkStrictly(`The answer of ${name}`, operations[name].output, output)
      return output
    },
    events: (input, after, signal) => checkEvents(client.events(input, after, signal)),
    transcript: (input, after, signal) => client.transcript(input, after, signal),
  }
}

async function* checkEvents(items: AsyncIterable<FeedItem>): AsyncIterable<FeedItem> {
  for await (const item of items) {
    if (item.kind === 'event') {
      checkStrictly(`The event ${item.event.type}`, eventPayloads[item.event.type], item.event.data)
    }
    yield item
  }
}

const strictSchemas = new WeakMap<z.ZodType, z.ZodType>()

/** Throws if a value has a key that its schema does not know, at any depth, or does not match it otherwise. */
export function checkStrictly(what: string, schema: z.ZodType, value: unknown): void {
  const known = strictSchemas.get(schema)
  // In the JSON schema of an output every object is closed, and stays so when converted back.
  const strict = known ?? z.fromJSONSchema(z.toJSONSchema(schema, { io: 'output' }) as never)
  if (!known) strictSchemas.set(schema, strict)
  const result = strict.safeParse(value)
  if (!result.success) throw new Error(`${what} does not fit the contract:\n${z.prettifyError(result.error)}`)
}
