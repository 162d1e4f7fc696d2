import { eventPayloads } from '../contract/events.ts'
import type { OperationSpec } from '../contract/operation.ts'
import { operations, streams, type OperationName, type StreamName } from '../contract/operations.ts'

/** What a client needs of an operation to ask for it. */
export type Route = Pick<OperationSpec, 'method' | 'path' | 'responds'>

/**
 * The contract as far as a client must know it to ask and to hear: plain data. The build of the page writes it down
 * worked out, so that no schema is made before a board is drawn.
 */
export const routes = Object.fromEntries(
  Object.entries<OperationSpec>(operations).map(([name, { method, path, responds }]) => [
    name,
    { method, path, responds },
  ]),
) as Readonly<Record<OperationName, Route>>

/** Where each stream is to be had. */
export const streamPaths: Readonly<Record<StreamName, Route['path']>> = {
  'events.stream': streams['events.stream'].path,
  'executions.stream': streams['executions.stream'].path,
}

/** Every type of event that there is. */
export const eventTypes: readonly string[] = Object.keys(eventPayloads)
