import { expect, test } from 'vitest'
import type { TranscriptEntry } from '../../../src-shared/contract/executions.ts'
import { createRunMeter } from '../../../src-main/executions/run-meter.ts'

const prices = {
  m: { input_usd_per_mtok: 10, output_usd_per_mtok: 100, cached_usd_per_mtok: 1, cache_write_usd_per_mtok: 20 },
}

type Used = Omit<Extract<TranscriptEntry, { type: 'usage' }>, 'type' | 'at'>
const used = (input_tokens: number, output_tokens: number, more: Partial<Used> = {}): TranscriptEntry => ({
  ...{ type: 'usage', at: '2026-11-21T10:00:00.000Z', input_tokens, output_tokens, cost_usd: null },
  ...more,
})
const meterOf = (entries: readonly TranscriptEntry[], model: string | null = 'm') => {
  const meter = createRunMeter(model, prices)
  for (const entry of entries) meter.add(entry)
  return meter
}

test('prices what came from a cache and what was written to one', () => {
  const meter = meterOf([used(1_000, 10, { cached_tokens: 600, cache_write_tokens: 300, turns: 1 })])
  expect(meter.usd()).toBeCloseTo((100 * 10 + 600 * 1 + 300 * 20 + 10 * 100) / 1e6, 12)
  expect(meter.usage(null)).toMatchObject({ input_tokens: 1_000, output_tokens: 10, estimated: true, turns: 1 })
  expect(meter.usage(null)).not.toHaveProperty('incomplete')
})

test('counts assumed requests until the agent tells what they used', () => {
  const assumed = used(20_000, 500, { assumed: true, turns: 1 })
  const meter = meterOf([assumed, assumed])
  expect(meter.usd()).toBeCloseTo(2 * 0.25, 12)
  expect(meter.isIncomplete()).toBe(true)
  // Stopped here, its tokens are unknown, and its cost is what was assumed.
  expect(meter.usage(null)).toEqual({
    ...{ input_tokens: null, output_tokens: null, cost_usd: 0.5, estimated: true, incomplete: true, turns: 2 },
  })
  meter.add(used(500, 100, { turns: 1 }))
  expect(meter.usd()).toBeCloseTo(0.015, 12)
  expect(meter.usage({ input_tokens: 500, output_tokens: 100, cost_usd: null })).toEqual({
    ...{
      input_tokens: 500,
      output_tokens: 100,
      cost_usd: expect.closeTo(0.015, 12) as number,
      estimated: true,
      turns: 3,
    },
  })
})

test('takes figures of the last request only for no sum of the run', () => {
  const assumed = used(20_000, 500, { assumed: true, turns: 1 })
  const meter = meterOf([assumed, used(100, 20, { partial: true, turns: 1 })])
  expect(meter.usage({ input_tokens: null, output_tokens: null, cost_usd: null })).toEqual({
    ...{ input_tokens: null, output_tokens: null, cost_usd: expect.closeTo(0.253, 12) as number },
    ...{ estimated: true, incomplete: true, turns: 2 },
  })
  // A cost that it names covers all of it.
  meter.add(used(0, 0, { cost_usd: 0.046 }))
  expect(meter.usage({ input_tokens: null, output_tokens: null, cost_usd: 0.046 })).toEqual({
    ...{ input_tokens: null, output_tokens: null, cost_usd: 0.046, turns: 2 },
  })
})

test('knows no cost of a model without a price, and no tokens of an agent that tells none', () => {
  const unknown = meterOf([used(20_000, 500, { assumed: true, turns: 1 }), used(100, 20)], 'fake-1')
  expect(unknown.usd()).toBeNull()
  expect(unknown.usage(null)).toMatchObject({ input_tokens: 100, output_tokens: 20, cost_usd: null })
  expect(meterOf([used(0, 0, { cost_usd: 0.5 })]).usage(null)).toEqual({
    ...{ input_tokens: null, output_tokens: null, cost_usd: 0.5 },
  })
  expect(meterOf([]).usage(null)).toBeNull()
})
