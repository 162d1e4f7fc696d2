import type { ModelPrice } from './limits.ts'

/**
 * List prices as published on `date`; they may have changed since. A project's `prices` take precedence. Without
 * schemas, because pages show the date too.
 */
export const listPrices: { readonly date: string; readonly models: Readonly<Record<string, ModelPrice>> } = {
  date: '2025-11-24',
  models: {
    'claude-opus-4-5': { input_usd_per_mtok: 5, output_usd_per_mtok: 25, cached_usd_per_mtok: 0.5 },
    'claude-sonnet-4-5': { input_usd_per_mtok: 3, output_usd_per_mtok: 15, cached_usd_per_mtok: 0.3 },
    'claude-haiku-4-5': { input_usd_per_mtok: 1, output_usd_per_mtok: 5, cached_usd_per_mtok: 0.1 },
    'gpt-5.1-codex': { input_usd_per_mtok: 1.25, output_usd_per_mtok: 10, cached_usd_per_mtok: 0.125 },
    'gpt-5.1': { input_usd_per_mtok: 1.25, output_usd_per_mtok: 10, cached_usd_per_mtok: 0.125 },
    'gpt-5-codex': { input_usd_per_mtok: 1.25, output_usd_per_mtok: 10, cached_usd_per_mtok: 0.125 },
    'gpt-5': { input_usd_per_mtok: 1.25, output_usd_per_mtok: 10, cached_usd_per_mtok: 0.125 },
    'gpt-5-mini': { input_usd_per_mtok: 0.25, output_usd_per_mtok: 2, cached_usd_per_mtok: 0.025 },
    'gemini-2.5-flash': { input_usd_per_mtok: 0.3, output_usd_per_mtok: 2.5, cached_usd_per_mtok: 0.03 },
  },
}

/** Returns the price of a model; null if it is unknown. Ignores a date at the end of a name, such as `-20250929`. */
export function findPrice(model: string, prices: Readonly<Record<string, ModelPrice>>): ModelPrice | null {
  const plain = model.replace(/^.*\//, '').replace(/-20\d{6}$/, '')
  return prices[model] ?? prices[plain] ?? listPrices.models[plain] ?? null
}
