import { expect, test } from 'vitest'
import { findPrice } from '../../../src-shared/contract/find-price.ts'
import { listPrices, listPricesDate } from '../../../src-shared/contract/list-prices.ts'

test.each([
  ['claude-opus-5-5', 'claude-opus-5-5', 'list'],
  ['anthropic/claude-opus-4.5', 'claude-opus-4-5', 'list'],
  ['claude-opus-5-5[1m]', 'claude-opus-5-5', 'list'],
  ['claude-sonnet-4-5-20250929', 'claude-sonnet-4-5', 'list'],
  ['us.anthropic.claude-opus-4-5-20251101-v1:0', 'claude-opus-4-5', 'list'],
  ['claude-haiku-4-5@20251001', 'claude-haiku-4-5', 'list'],
  ['GPT-5.6-Sol', 'gpt-5.6-sol', 'list'],
  ['gpt-5-mini-2025-08-07', 'gpt-5-mini', 'list'],
  ['gemini-3-pro-preview', 'gemini-3-pro', 'list'],
  ['google/gemini-2.5-flash-preview-09-2025', 'gemini-2.5-flash', 'list'],
  ['moonshotai/kimi-k2-0905-preview', 'kimi-k2', 'list'],
  ['MiniMax-M3', 'minimax-m3', 'list'],
  ['z-ai/glm-5.3', 'glm-5.3', 'list'],
  // A new version costs what the newest known one does, one between two what the older does.
  ['gpt-6.2-sol', 'gpt-6-sol', 'family'],
  ['claude-opus-6', 'claude-opus-5-5', 'family'],
  ['claude-opus-7-20270101', 'claude-opus-5-5', 'family'],
  ['claude-opus-4-9', 'claude-opus-4-8', 'family'],
  ['gemini-4-flash-lite', 'gemini-3.5-flash-lite', 'family'],
  ['gpt-5.5-codex', 'gpt-5.5', 'family'],
  ['qwen3.9-max', 'qwen3.8-max', 'family'],
  ['claude-4.5-haiku', 'claude-haiku-4-5', 'family'],
  ['sonnet', 'claude-sonnet-5-5', 'family'],
])('finds the price of %s as that of %s', (model, row, by) => {
  expect(findPrice(model, {})).toEqual({ price: listPrices[row], model: row, by })
})

test.each(['fake-1', 'llama-4', 'claude', 'constructor', '', 'gpt-6-ultra', '5', 'opus-magnum'])(
  'knows no price of %j',
  (model) => {
    expect(findPrice(model, {})).toBeNull()
  },
)

test('takes a project’s own price first, however the model is written', () => {
  const price = { input_usd_per_mtok: 7, output_usd_per_mtok: 9 }
  expect(findPrice('claude-opus-5-5', { 'claude-opus-5-5': price })).toEqual({
    ...{ price, model: 'claude-opus-5-5', by: 'project' },
  })
  expect(findPrice('anthropic/claude-opus-5.5', { 'claude-opus-5-5': price })?.by).toBe('project')
  // Another version's own price says nothing of this one.
  expect(findPrice('claude-opus-6', { 'claude-opus-5-5': price })?.by).toBe('family')
})

test('lists prices that can be right', () => {
  expect(Date.parse(listPricesDate)).toBeGreaterThan(Date.parse('2026-09-01'))
  for (const [model, price] of Object.entries(listPrices)) {
    const { input_usd_per_mtok: input, output_usd_per_mtok: output, cached_usd_per_mtok: cached = input } = price
    expect([model, input > 0, output >= input, cached <= input]).toEqual([model, true, true, true])
    expect(findPrice(model, {})).toEqual({ price, model, by: 'list' })
  }
})
