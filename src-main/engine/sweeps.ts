import type { Cleanup } from './cleanup.ts'
import type { EngineContext } from './context.ts'
import type { StepDeps } from './perform-step.ts'
import { markLost } from './recovery.ts'
import type { Rescues } from './rescues.ts'
import type { ExecutionRecord } from './store-port.ts'

/** An execution elsewhere that has not been heard of for this long is lost. */
const heartbeatLimitMs = 90_000
const sweepEveryMs = 15_000

/** What is looked at again and again: clean-ups that are due, rescues past their time, agents that fell silent. */
export interface Sweeps {
  start(): void
  /** Settles when the last look has ended. */
  close(): Promise<void>
}

export function createSweeps(parts: {
  readonly steps: StepDeps
  readonly cleanup: Pick<Cleanup, 'sweep'>
  readonly rescues: Pick<Rescues, 'sweep'>
}): Sweeps {
  const { steps, cleanup, rescues } = parts
  const { context } = steps
  const closing = new AbortController()
  let timer: NodeJS.Timeout | null = null
  let sweeping = Promise.resolve()
  const sweep = () => {
    sweeping = sweeping
      .then(() => cleanup.sweep(closing.signal))
      .then(() => rescues.sweep(closing.signal))
      .catch((error: unknown) => {
        context.log.error({ err: error }, 'the clean-up sweep broke')
      })
    for (const record of context.store.read.executions.open()) {
      if (!isSilent(context, record)) continue
      markLost(steps, record, 'Nothing was heard of the agent for 90 seconds. Run it again, or claim the task anew.')
      steps.occasions.wake(record.task_id)
    }
  }
  return {
    start: () => {
      sweep()
      timer = setInterval(sweep, sweepEveryMs)
    },
    close: () => {
      if (timer) clearInterval(timer)
      closing.abort()
      return sweeping
    },
  }
}

/** Only agents that run elsewhere have to be heard of; what runs here is watched directly. */
function isSilent(context: EngineContext, record: ExecutionRecord): boolean {
  if (record.status !== 'running' || record.executor === 'person' || record.last_heartbeat_at === null) return false
  if (context.executors.hosting(record.executor) === 'here') return false
  return context.clock.now() - Date.parse(record.last_heartbeat_at) > heartbeatLimitMs
}
