import { z } from 'zod'
import { AgentId, Timestamp } from './ids.ts'

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

export const limitNames = [
  'per_run.usd',
  'per_run.minutes',
  'per_run.turns',
  'per_task.usd',
  'per_task.minutes',
  'per_day.usd',
  'per_day.minutes',
  'agent_per_day.usd',
  'agent_per_day.minutes',
] as const
export type LimitName = (typeof limitNames)[number]

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

const units: Readonly<Record<string, (amount: number) => string>> = {
  usd: (amount) => `$${amount.toFixed(2)}`,
  minutes: (amount) => `${Math.round(amount * 10) / 10} min`,
  turns: (amount) => `${Math.round(amount)} turns`,
}

/** `$5.00`, `45 min`, `120 turns`. */
export function limitAmount(limit: LimitName, amount: number): string {
  return units[limit.split('.')[1] ?? '']?.(amount) ?? String(amount)
}

const scopes: Readonly<Record<string, string>> = {
  per_run: 'a run',
  per_task: 'this task',
  per_day: 'the project for today',
  agent_per_day: 'this agent for today',
}

/** What a limit is for: `this task`. */
export const limitScope = (limit: LimitName): string => scopes[limit.split('.')[0] ?? ''] ?? limit

/** What one press raises a limit to: twice what it was, and above what is spent. */
export function raisedTo(allowed: number, spent: number): number {
  const doubled = Math.max(allowed * 2, spent * 1.25)
  return doubled >= 10 ? Math.ceil(doubled) : Math.ceil(doubled * 100) / 100
}

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
