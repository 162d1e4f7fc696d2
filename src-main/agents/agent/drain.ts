import { createLineBuffer } from '../../platform/text/line-buffer.ts'
import type { AgentLog } from '../../ports/logs.ts'

/**
 * Reads an output only as fast as the log takes it, so that a flood is slowed down at its source. With a
 * broken log it is still read: a full pipe would keep the agent from ending. Throws then, in the end.
 */
export async function drain(
  source: AsyncIterable<Uint8Array>,
  reader: { push(bytes: Uint8Array): void; end(): void },
  log: Pick<AgentLog, 'raw'>,
): Promise<void> {
  const lines = createLineBuffer()
  let failure: Error | null = null
  const write = async (bytes: Uint8Array): Promise<void> => {
    if (bytes.length > 0 && failure === null) failure = await settle(log.raw(bytes))
  }
  for await (const bytes of source) {
    reader.push(bytes)
    await write(lines.push(bytes))
  }
  reader.end()
  await write(lines.flush())
  if (failure !== null) throw failure as Error
}

/** null when it went well, else why not. */
export const settle = (promise: PromiseLike<unknown>): Promise<Error | null> =>
  Promise.resolve(promise).then(
    () => null,
    (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
  )
