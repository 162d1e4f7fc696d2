import type { Client } from '../../../src-shared/client/create-client.ts'
import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { OperationInput } from '../../../src-shared/contract/operations.ts'
import type { LogSlice } from '../../../src-shared/contract/executions.ts'
import { bytesOf } from '../../stores/base/bytes-of.ts'
import { useClient } from '../../stores/base/client.ts'
import { sleep } from '../../stores/base/sleep.ts'

/** A reader of a run's output; output before the tail is left out. */
export interface RawReader {
  /** Resolves when there is room for more. */
  write(bytes: Uint8Array): Promise<void>
  /** Called first if the log is longer than the tail. */
  cut(): void
  /** Called when all output from before the start is written; later output is live. */
  caughtUp(): void
  /** Returns whether a missing log may still appear. */
  mayCome(): boolean
}

/** Bytes from the end at which a long log starts; logs may have 200 MB. */
const tailBytes = 4 * 1024 * 1024
const pieceBytes = 256 * 1024
const waitSeconds = 20
/** Milliseconds between retries. */
const retryMs = 1_000

/** Returns a function that follows the raw output of an execution. */
export function useRawLog() {
  const client = useClient()
  return {
    follow: (executionId: string, reader: RawReader, signal: AbortSignal) =>
      followRawLog(client, executionId, reader, signal),
  }
}

/**
 * Passes every byte from the tail on, once and in order, until the log is complete or `signal`
 * aborts; reconnects.
 */
export async function followRawLog(
  client: Pick<Client, 'call'>,
  execution_id: string,
  reader: RawReader,
  signal: AbortSignal,
  wait: (ms: number, signal: AbortSignal) => Promise<void> = sleep,
): Promise<void> {
  const name = `agent-${execution_id}.raw.log`
  let offset: number | null = null
  let past: number | null = null
  while (!signal.aborted) {
    try {
      if (offset === null) {
        past = await sizeOf(client, execution_id, name)
        offset = Math.max(0, past - tailBytes)
        if (offset > 0) reader.cut()
      }
      if (past !== null && offset >= past) {
        reader.caughtUp()
        past = null
      }
      const input: OperationInput<'executions.read_log'> = {
        execution_id,
        name,
        offset,
        limit: pieceBytes,
        wait_seconds: waitSeconds,
      }
      const slice: LogSlice = await client.call('executions.read_log', input)
      if (signal.aborted) return
      if (slice.data_base64 !== '') await reader.write(bytesOf(slice.data_base64))
      offset = slice.next_offset
      if (slice.complete) return
    } catch (error) {
      const isMissing = error instanceof ApiError && error.code === 'not_found'
      if (isMissing ? !reader.mayCome() : error instanceof ApiError && error.status < 500) return
      // The log doesn't exist yet, or the connection is lost.
      await wait(retryMs, signal)
    }
  }
}

async function sizeOf(client: Pick<Client, 'call'>, execution_id: string, name: string): Promise<number> {
  const { items } = await client.call('executions.logs', { execution_id })
  return items.find((file) => file.name === name)?.size ?? 0
}
