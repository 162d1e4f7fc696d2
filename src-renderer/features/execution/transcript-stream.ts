import type { Client } from '../../../src-shared/client/create-client.ts'
import { ApiError, type ErrorCode } from '../../../src-shared/contract/errors.ts'
import type { TranscriptEntry } from '../../../src-shared/contract/executions.ts'
import { useClient } from '../../stores/base/client.ts'
import { sleep } from '../../stores/base/sleep.ts'

/** The state of the stream. `reconnecting`: the connection was lost; no entry is skipped. */
export type TranscriptState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'live' }
  | { readonly kind: 'reconnecting' }
  | { readonly kind: 'ended' }
  | { readonly kind: 'refused'; readonly message: string }

export interface TranscriptListener {
  onEntry(entry: TranscriptEntry): void
  onState(state: TranscriptState): void
}

/** Errors that a retry can't fix. */
const final: ReadonlySet<ErrorCode> = new Set(['not_found', 'forbidden', 'not_a_member', 'validation_failed'])
const LONGEST_WAIT = 10_000

/**
 * Follows an execution's transcript from the first line to its end, across reconnects, until
 * `signal` aborts.
 */
export function useTranscriptStream() {
  const client = useClient()
  return {
    follow: (executionId: string, listener: TranscriptListener, signal: AbortSignal) =>
      followTranscript(client, executionId, listener, signal),
  }
}

/** Passes every entry once and in order; after a reconnect continues after the last line. */
export async function followTranscript(
  client: Pick<Client, 'transcript'>,
  executionId: string,
  listener: TranscriptListener,
  signal: AbortSignal,
  wait: (ms: number, signal: AbortSignal) => Promise<void> = sleep,
): Promise<void> {
  let next = 0
  let failures = 0
  listener.onState({ kind: 'connecting' })
  while (!signal.aborted) {
    try {
      const after = next === 0 ? null : next - 1
      for await (const item of client.transcript({ execution_id: executionId }, after, signal)) {
        if (item.kind === 'end') return listener.onState({ kind: 'ended' })
        if (failures > 0 || next === 0) listener.onState({ kind: 'live' })
        failures = 0
        if (item.index < next) continue
        next = item.index + 1
        listener.onEntry(item.entry)
      }
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof ApiError && final.has(error.code))
        return listener.onState({ kind: 'refused', message: error.message })
    }
    failures++
    if (signal.aborted) return
    listener.onState({ kind: 'reconnecting' })
    await wait(Math.min(250 * 2 ** failures, LONGEST_WAIT), signal)
  }
}
