import type { Usage } from '../../src-shared/contract/executions.ts'
import type { Ground } from '../core/ground.ts'
import type { ExecutionRecord } from '../ports/execution-queries.ts'
import { modelOf, pricesOf } from './prices.ts'
import { createRunMeter } from './run-meter.ts'

/** Returns the usage of a run whose end was not seen, from its transcript; null if the transcript has none. */
export async function readUsage(context: Ground, record: ExecutionRecord): Promise<Usage | null> {
  try {
    const { read } = context.store
    const meter = createRunMeter(modelOf(read, record), pricesOf(read, record))
    const signal = AbortSignal.timeout(60_000)
    for await (const item of context.logs.follow(record.task_id, record.id, 0, { signal })) {
      if (item.kind === 'end') break
      meter.add(item.entry)
    }
    return meter.usage(null)
  } catch (error) {
    context.log.warn({ err: error, execution_id: record.id }, 'what a lost run has used could not be read')
    return null
  }
}
