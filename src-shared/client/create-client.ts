import type { FeedItem, TranscriptItem } from '../contract/events.ts'
import type { OperationInput, OperationName, OperationOutput, StreamInput, StreamName } from '../contract/operations.ts'

/** Transports calls and streams: HTTP in a browser or the CLI, IPC in the window. Throws `ApiError`. */
export interface Transport {
  call(name: OperationName, input: unknown): Promise<unknown>
  /**
   * `after`: the last event's number, or the number of known transcript lines minus one; null for "from the
   * start/now".
   */
  stream(name: StreamName, input: unknown, after: number | null, signal: AbortSignal): AsyncIterable<unknown>
}

/** The typed client of every operation, the only way in which the renderer and the CLI reach the service. */
export interface Client {
  call<N extends OperationName>(name: N, input: OperationInput<N>): Promise<OperationOutput<N>>
  /** Ends (or throws) when the connection is lost; the caller resumes with the last `seq` it saw. */
  events(input: StreamInput<'events.stream'>, after: number | null, signal: AbortSignal): AsyncIterable<FeedItem>
  /** Yields the entries after line `after` (null: from the start), then live ones, then `end`. */
  transcript(
    input: StreamInput<'executions.stream'>,
    after: number | null,
    signal: AbortSignal,
  ): AsyncIterable<TranscriptItem>
}

export function createClient(transport: Transport): Client {
  return {
    call: async (name, input) => (await transport.call(name, input)) as never,
    events: (input, after, signal) =>
      transport.stream('events.stream', input, after, signal) as AsyncIterable<FeedItem>,
    transcript: (input, after, signal) =>
      transport.stream('executions.stream', input, after, signal) as AsyncIterable<TranscriptItem>,
  }
}
