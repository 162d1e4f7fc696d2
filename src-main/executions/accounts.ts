import { executorInfos } from '../../src-shared/contract/executor-profiles.ts'
import { nowIso, type EngineContext } from '../core/context.ts'
import type { Tx } from '../core/event-feed.ts'
import { pauseUntil, readReset } from '../domain/task/usage-limit.ts'
import type { ExecutionOutcome } from '../ports/executors.ts'
import type { AccountRecord, AgentRecord, Queries } from '../ports/store.ts'

/**
 * Returns the account that an agent uses: its configured name, else its type with what distinguishes its credentials.
 * Keys appear only as a part of their hash.
 */
export function accountOf({ executor, config }: Pick<AgentRecord, 'executor' | 'config'>): string {
  if (config.account !== undefined) return config.account
  const { name, accountVariables } = executorInfos[executor]
  const variables = accountVariables.flatMap((variable) => {
    const value = config.env?.[variable]
    if (value === undefined || value === '') return []
    // Other users may read the account, so it contains neither keys nor whole paths.
    const folder = /_(?:DIR|HOME)$|^HOME$/.test(variable) ? (value.split(/[\\/]/).at(-1) ?? '') : variable
    return [`${folder} ${digest(value)}`]
  })
  return [name, ...variables].join(', ')
}

/** Returns 64 bits (FNV-1a) that distinguish values and from which no key can be restored. */
function digest(value: string): string {
  let hash = 0xcbf29ce484222325n
  for (const byte of new TextEncoder().encode(value)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n)
  return hash.toString(16).padStart(16, '0')
}

/** Returns when the usage limit of an agent's account ends; null if it has none. */
export function limitedUntil(q: Queries, agent: AgentRecord | null, now: string): string | null {
  const until = agent && (q.accounts.get(accountOf(agent))?.limited_until ?? null)
  return until !== null && until > now ? until : null
}

export interface FoundLimit {
  readonly account: string
  readonly resets_at: string | null
  readonly retry_at: string
}

/** Saves what a run reported about its account; returns the usage limit that ended the run. */
export function noteAccount(
  context: EngineContext,
  tx: Tx,
  agent: AgentRecord | null,
  { usage_limit, windows = [], message }: ExecutionOutcome,
): FoundLimit | null {
  if (agent === null) return null
  const account = usage_limit?.account ?? accountOf(agent)
  const known = recent(context, tx.accounts.get(account))
  if (usage_limit === undefined && windows.length === 0 && (known?.tries ?? 0) === 0) return null
  const now = context.clock.now()
  const base = {
    account,
    executor: agent.executor,
    told_at: nowIso(context),
    windows: windows.length > 0 ? windows : (known?.windows ?? []),
  }
  if (usage_limit === undefined) {
    tx.accounts.put({ ...base, limited_until: null, resets_at: null, tries: 0 })
    return null
  }
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  const told = usage_limit.resets_at ?? isoOf(readReset(message ?? '', now, timeZone))
  const tries = known?.tries ?? 0
  // A reported reset that has passed without effect is replaced by a pause.
  const resets_at = told !== null && Date.parse(told) > now ? told : null
  const retry_at = resets_at ?? isoOf(pauseUntil(now, tries)) ?? nowIso(context)
  tx.accounts.put({ ...base, limited_until: retry_at, resets_at, tries: tries + 1 })
  return { account, resets_at, retry_at }
}

/** Returns the account's record without its count of failures if those are long ago. */
function recent({ clock }: EngineContext, known: AccountRecord | null): AccountRecord | null {
  return known && clock.now() - Date.parse(known.told_at) > forgetTriesMs ? { ...known, tries: 0 } : known
}

const forgetTriesMs = 24 * 60 * 60_000

const isoOf = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())
