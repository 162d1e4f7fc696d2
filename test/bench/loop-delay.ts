import { monitorEventLoopDelay } from 'node:perf_hooks'

/** Loaded beside the service: says how late its event loop was, and begins anew with each question. */
export interface LoopDelay {
  readonly p99_ms: number
  readonly max_ms: number
}

/** How often is looked. What is measured is the time between two looks, so as much is nobody's delay. */
const resolution = 10
const delay = monitorEventLoopDelay({ resolution })
delay.enable()
process.on('message', () => {
  const late = (nanoseconds: number) => Math.max(0.001, nanoseconds / 1e6 - resolution)
  process.send?.({ p99_ms: late(delay.percentile(99)), max_ms: late(delay.max) } satisfies LoopDelay)
  delay.reset()
})
// The service ends as if nobody listened.
process.channel?.unref()
