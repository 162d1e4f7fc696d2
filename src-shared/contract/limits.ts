import { z } from 'zod'
import { AgentId, Timestamp } from './ids.ts'
import { limitNames } from './limit-names.ts'

const usd = z.number().positive().max(1_000_000).nullable().optional()
const minutes = z.number().positive().max(1_000_000).nullable().optional()

const Limit = z.strictObject({ usd, minutes })
const RunLimit = z.strictObject({ usd, minutes, turns: z.int().positive().max(1_000_000).nullable().optional() })

/** What agents may use. A scope or a field that is null or absent has no limit. */
export const Limits = z.strictObject({
  per_run: RunLimit.nullable().default(null).describe('One start of one agent.'),
  per_task: Limit.nullable().default(null).describe('All runs of a task together.'),
  per_day: Limit.nullable()
    .default(null)
    .describe('All agents of the project together, from midnight by the clock of the service.'),
  warn_at: z.number().positive().max(1).default(0.8).describe('The share of a limit at which it is warned of, once.'),
})
export type Limits = z.infer<typeof Limits>

export const defaultLimits: Limits = { per_run: null, per_task: null, per_day: null, warn_at: 0.8 }

/** What one agent may use, in all projects together. */
export const AgentLimits = z.strictObject({ per_day: Limit.nullable().default(null) })

/** What a model costs, in US dollars for a million tokens. */
export const ModelPrice = z.strictObject({
  input_usd_per_mtok: z.number().min(0),
  output_usd_per_mtok: z.number().min(0),
  cached_usd_per_mtok: z
    .number()
    .min(0)
    .optional()
    .describe('Of input that came from a cache; the price of other input without it.'),
})
export type ModelPrice = z.infer<typeof ModelPrice>

/** How far a limit is used. */
export const LimitUse = z
  .object({
    limit: z.enum(limitNames),
    allowed: z.number(),
    spent: z.number().nullable().describe('null: nothing is known of it, as where no agent names a price.'),
    incomplete: z.boolean().describe('Some runs have not told theirs, so it may be more.'),
    raised: z.boolean().describe('It was raised for this task.'),
  })
  .meta({ id: 'LimitUse' })
export type LimitUse = z.infer<typeof LimitUse>

const day = {
  since: Timestamp.describe('When the day began, by the clock of the service.'),
  time_zone: z.string().describe('The time zone of the service, as IANA names it.'),
  warn_at: z.number(),
}

export const TaskLimits = z.object({ ...day, items: z.array(LimitUse) }).meta({ id: 'TaskLimits' })
export type TaskLimits = z.infer<typeof TaskLimits>

export const ProjectLimits = z
  .object({
    ...day,
    items: z.array(LimitUse).describe('Those of the project and its day.'),
    agents: z.array(
      z.object({
        agent_id: AgentId,
        executions: z.int().describe('Of today, in all projects.'),
        usd: z.number().nullable(),
        minutes: z.number(),
        incomplete: z.boolean(),
        items: z.array(LimitUse),
      }),
    ),
  })
  .meta({ id: 'ProjectLimits' })
export type ProjectLimits = z.infer<typeof ProjectLimits>

/** List prices, as their makers published them. A project's `prices` come before them. */
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

/** The price of a model; null where it is not known. A date at the end of a name, as `-20250929`, does not matter. */
export function findPrice(model: string, prices: Readonly<Record<string, ModelPrice>>): ModelPrice | null {
  const plain = model.replace(/^.*\//, '').replace(/-20\d{6}$/, '')
  return prices[model] ?? prices[plain] ?? listPrices.models[plain] ?? null
}
