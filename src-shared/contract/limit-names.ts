/** Names of limits. Without schemas, because the board's first page uses them too. */
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

const units: Readonly<Record<string, (amount: number) => string>> = {
  usd: (amount) => `$${amount.toFixed(2)}`,
  minutes: (amount) => `${Math.round(amount * 10) / 10} min`,
  turns: (amount) => `${Math.round(amount)} turns`,
}

/** Formats an amount: `$5.00`, `45 min`, `120 turns`. */
export function limitAmount(limit: LimitName, amount: number): string {
  return units[limit.split('.')[1] ?? '']?.(amount) ?? String(amount)
}

const scopes: Readonly<Record<string, string>> = {
  per_run: 'a run',
  per_task: 'this task',
  per_day: 'the project for today',
  agent_per_day: 'this agent for today',
}

/** Returns the scope of a limit: `this task`. */
export const limitScope = (limit: LimitName): string => scopes[limit.split('.')[0] ?? ''] ?? limit

/** Returns the amount to which one click raises a limit: twice the old one, and above what is spent. */
export function raisedTo(allowed: number, spent: number): number {
  const doubled = Math.max(allowed * 2, spent * 1.25)
  return doubled >= 10 ? Math.ceil(doubled) : Math.ceil(doubled * 100) / 100
}
