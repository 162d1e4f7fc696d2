import { createLineBuffer } from '../../platform/text/line-buffer.ts'
import type { AgentLog } from '../../ports/logs.ts'
import type { LineFilter } from './filter-lines.ts'

/**
 * Reads an output only as fast as the log accepts it, which slows a flood down at its source. After an error of the
 * log it keeps reading, since a full pipe would keep the agent from ending, and throws at the end. The log gets what
 * `filter` passes.
 */
export async function drain(
  source: AsyncIterable<Uint8Array>,
  reader: { push(bytes: Uint8Array): void; end(): void },
  log: Pick<AgentLog, 'raw'>,
  filter: LineFilter | null = null,
): Promise<void> {
  const lines = createLineBuffer()
  let failure: Error | null = null
  // Output of which nothing is kept is a sign of life too.
  const write = async (bytes: Uint8Array, isHidden = false): Promise<void> => {
    if ((bytes.length > 0 || isHidden) && failure === null) failure = await settle(log.raw(bytes))
  }
  for await (const bytes of source) {
    reader.push(bytes)
    const shown = filter?.push(bytes) ?? bytes
    await write(lines.push(shown), shown.length === 0)
  }
  reader.end()
  if (filter) await write(lines.push(filter.flush()))
  await write(lines.flush())
  if (failure !== null) throw failure as Error
}

/** Resolves with null on success, else with the error. */
export const settle = (promise: PromiseLike<unknown>): Promise<Error | null> =>
  Promise.resolve(promise).then(
    () => null,
    (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
  )
