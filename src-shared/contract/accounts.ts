import { z } from 'zod'
import { executorProfiles } from './executor-profiles.ts'
import { AgentId, Timestamp } from './ids.ts'

/** Use of an account's rate limit window, as its provider reports it. */
export const AccountWindow = z.object({
  name: z.string().describe('As people read it: `5 hours`, `7 days`.'),
  used: z.number().min(0).nullable().describe('The share that is used, from 0 to 1; null where only its end is told.'),
  resets_at: Timestamp.nullable(),
})
export type AccountWindow = z.infer<typeof AccountWindow>

/** The account of agents of a type: its configured name, or the location of the credentials. */
export const Account = z
  .object({
    account: z.string(),
    executor: z.enum(executorProfiles),
    agents: z.array(AgentId),
    limited_until: Timestamp.nullable().describe('Its usage limit holds: tasks of its agents wait until then.'),
    resets_at: Timestamp.nullable().describe('When the provider says that it resets; null where it does not say.'),
    doubtful: z
      .boolean()
      .describe(
        'The reset is later than the account’s own window can make it, so Copse tries before: `limited_until`.',
      ),
    windows: z.array(AccountWindow).describe('Empty where the provider tells none.'),
    told_at: Timestamp.nullable(),
  })
  .meta({ id: 'Account' })
export type Account = z.infer<typeof Account>
