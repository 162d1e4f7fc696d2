import { expect, test } from 'vitest'
import { createUsageCount } from '../../../../src-main/agents/acp/usage.ts'

const dollars = (amount: number) => ({ amount, currency: 'USD' })

test.each([
  ['in the answer', { usage: { inputTokens: 10, outputTokens: 4, totalTokens: 14 } }, 10, 4],
  ['with what a cache gave', { usage: { inputTokens: 10, outputTokens: 4, totalTokens: 114 } }, 110, 4],
  ['in its notes', { _meta: { quota: { token_count: { input_tokens: 7, output_tokens: 2 } } } }, 7, 2],
])('reads the tokens of a turn %s', (_name, response, input_tokens, output_tokens) => {
  const usage = createUsageCount()
  expect(usage.endTurn(response)).toEqual({ input_tokens, output_tokens, cost_usd: null })
  expect(usage.total()).toEqual({ input_tokens, output_tokens, cost_usd: null })
})

test('adds up the tokens of single calls, turn by turn', () => {
  const usage = createUsageCount()
  usage.addOf({ usage: { inputTokens: 100, outputTokens: 20 } })
  usage.addOf({ usage: { inputTokens: 100, outputTokens: 20 } })
  usage.addOf({ other: 1 })
  expect(usage.endTurn({})).toEqual({ input_tokens: 200, output_tokens: 40, cost_usd: null })
  usage.addOf({ usage: { inputTokens: 1, outputTokens: 1 } })
  expect(usage.endTurn({})).toEqual({ input_tokens: 1, output_tokens: 1, cost_usd: null })
  expect(usage.total()).toEqual({ input_tokens: 201, output_tokens: 41, cost_usd: null })
})

test('counts a running total of the session from the beginning of the run', () => {
  const usage = createUsageCount()
  usage.cost(dollars(1))
  usage.begin()
  usage.cost(dollars(1.25))
  expect(usage.endTurn({})).toMatchObject({ cost_usd: 0.25 })
  usage.cost(dollars(1.5))
  expect(usage.endTurn({})).toMatchObject({ cost_usd: 0.25 })
  expect(usage.total()).toMatchObject({ cost_usd: 0.5 })
})

test('counts the cost of a resumed session once if it was not reported before', () => {
  const usage = createUsageCount()
  usage.begin(1)
  usage.cost(dollars(1.25))
  expect(usage.endTurn({})).toMatchObject({ cost_usd: 0.25 })
  const fresh = createUsageCount()
  fresh.begin(1)
  fresh.cost(dollars(0.5))
  expect(fresh.endTurn({})).toMatchObject({ cost_usd: 0.5 })
})

test('takes a cost of 0 for an unknown price', () => {
  const usage = createUsageCount()
  usage.cost(dollars(0))
  expect(usage.endTurn({ usage: { inputTokens: 10, outputTokens: 4 } })).toMatchObject({ cost_usd: null })
})

test('ignores another currency and invalid usage', () => {
  const usage = createUsageCount()
  usage.cost({ amount: 3, currency: 'EUR' })
  expect(usage.endTurn({ usage: 'much' })).toBeNull()
  expect(usage.total()).toBeNull()
})

test('counts the calls of a turn by what follows each, and assumes figures until the agent tells them', () => {
  const usage = createUsageCount({ model: () => 'm' })
  usage.begin()
  const assumed = (input_tokens: number) => ({
    ...{ input_tokens, output_tokens: 500, cost_usd: null, turns: 1, assumed: true, model: 'm' },
  })
  expect(usage.called()).toBeNull()
  // More output of the same call.
  expect(usage.called()).toBeNull()
  usage.toolEnded()
  expect(usage.called()).toEqual(assumed(20_000))
  usage.toolEnded()
  // The size of the context is what the agent tells of its calls.
  expect(usage.context(31_000, null)).toEqual(assumed(31_000))
  expect(usage.called()).toBeNull()
  expect(usage.endTurn({ usage: { inputTokens: 900, outputTokens: 30 } })).toEqual({
    ...{ input_tokens: 900, output_tokens: 30, cost_usd: null, turns: 1, model: 'm' },
  })
})

test('counts calls that show nothing but the size of their context', () => {
  const usage = createUsageCount()
  usage.begin()
  expect([1, 2, 3].map((n) => usage.context(n * 1_000, null)?.input_tokens ?? null)).toEqual([null, 2_000, 3_000])
  // A call that told its context before and after its output is one.
  const other = createUsageCount()
  other.begin()
  expect([other.context(100, 'm'), other.called(), other.context(120, 'm')]).toEqual([null, null, null])
})

test('takes tokens of the last call for no sum, unless it was the only one', () => {
  const usage = createUsageCount({ tellsLastCall: () => true })
  usage.begin()
  usage.called()
  expect(usage.endTurn({ usage: { inputTokens: 9, outputTokens: 1 } })).not.toHaveProperty('partial')
  usage.called()
  usage.toolEnded()
  usage.called()
  expect(usage.endTurn({ usage: { inputTokens: 9, outputTokens: 1 } })).toMatchObject({ partial: true })
  expect(usage.total()).toEqual({ input_tokens: null, output_tokens: null, cost_usd: null })
})
