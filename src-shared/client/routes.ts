import { eventPayloads } from '../contract/events.ts'
import type { OperationSpec } from '../contract/operation.ts'
import { operations, streams, type OperationName, type StreamName } from '../contract/operations.ts'

/** The parts of an operation that a client needs to call it. */
export type Route = Pick<OperationSpec, 'method' | 'path' | 'responds'>

/**
 * The parts of the contract that a client needs, as plain data. The page's build computes them, so that no schema is
 * created before a board is shown.
 */
export const routes = Object.fromEntries(
  Object.entries<OperationSpec>(operations).map(([name, { method, path, responds }]) => [
    name,
    { method, path, responds },
  ]),
) as Readonly<Record<OperationName, Route>>

/** The path of each stream. */
export const streamPaths: Readonly<Record<StreamName, Route['path']>> = {
  'events.stream': streams['events.stream'].path,
  'executions.stream': streams['executions.stream'].path,
}

/** All event types. */
export const eventTypes: readonly string[] = Object.keys(eventPayloads)
