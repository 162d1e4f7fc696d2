import { z } from 'zod'
import { AgentId, Timestamp } from './ids.ts'
import { limitNames } from './limit-names.ts'

const usd = z.number().positive().max(1_000_000).nullable().optional()
const minutes = z.number().positive().max(1_000_000).nullable().optional()

const Limit = z.strictObject({ usd, minutes })
const RunLimit = z.strictObject({ usd, minutes, turns: z.int().positive().max(1_000_000).nullable().optional() })

/** Limits of agents. A scope or field that is null or absent is unlimited. */
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

/** Limits of one agent across all projects. */
export const AgentLimits = z.strictObject({ per_day: Limit.nullable().default(null) })

/** Price of a model in US dollars per million tokens. */
export const ModelPrice = z.strictObject({
  input_usd_per_mtok: z.number().min(0),
  output_usd_per_mtok: z.number().min(0),
  cached_usd_per_mtok: z
    .number()
    .min(0)
    .optional()
    .describe('Of input that came from a cache; the price of other input without it.'),
  cache_write_usd_per_mtok: z
    .number()
    .min(0)
    .optional()
    .describe('Of input that was written to a cache; the price of other input without it.'),
})
export type ModelPrice = z.infer<typeof ModelPrice>

/** Use of a limit. */
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

/** An agent's usage today, and the use of its own limits. */
const AgentDay = z.object({
  agent_id: AgentId,
  executions: z.int().describe('Of today, in all projects.'),
  usd: z.number().nullable(),
  minutes: z.number(),
  incomplete: z.boolean(),
  items: z.array(LimitUse),
})

/** Today's usage of each agent that the caller sees. */
export const AgentDays = z
  .object({ since: day.since, time_zone: day.time_zone, items: z.array(AgentDay) })
  .meta({ id: 'AgentDays' })
export type AgentDays = z.infer<typeof AgentDays>

/** The prices by which costs are estimated that no agent names. */
export const Prices = z
  .object({
    list_prices_of: z.iso.date().describe('The day of the built-in list.'),
    days_old: z.int().describe('Days since then.'),
    own: z.record(z.string(), ModelPrice).describe('The project’s own, which come first.'),
    list: z.record(z.string(), ModelPrice).describe('The built-in list.'),
    found: z
      .object({
        model: z.string().describe('The entry that is taken.'),
        by: z.enum(['project', 'list', 'family']).describe('`family`: of the nearest version that is listed.'),
        price: ModelPrice,
      })
      .nullable()
      .optional()
      .describe('The price of the `model` that was asked for; null: unknown.'),
  })
  .meta({ id: 'Prices' })
export type Prices = z.infer<typeof Prices>

export const ProjectLimits = z
  .object({
    ...day,
    items: z.array(LimitUse).describe('Those of the project and its day.'),
    agents: z.array(AgentDay),
    list_prices_of: z.iso
      .date()
      .describe('The day of the list prices by which costs are estimated that no agent names.'),
  })
  .meta({ id: 'ProjectLimits' })
export type ProjectLimits = z.infer<typeof ProjectLimits>
