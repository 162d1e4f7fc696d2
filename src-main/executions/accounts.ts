import { executorInfos } from '../../src-shared/contract/executor-profiles.ts'
import { nowIso, type Ground } from '../core/ground.ts'
import type { Tx } from '../core/event-feed.ts'
import { readReset, retryAfterLimit, type Reset } from './rules/usage-limit.ts'
import type { ExecutionOutcome } from '../ports/executors.ts'
import type { AccountRecord, AgentRecord } from '../ports/agent-queries.ts'
import type { Queries } from '../ports/store.ts'

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
  /** The reset is later than the account's own window can make it, so the account is tried before. */
  readonly doubtful: boolean
}

/** Saves what a run reported about its account; returns the usage limit that ended the run. */
export function noteAccount(
  context: Ground,
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
    releaseWaiting(context, tx, account)
    return null
  }
  const text = message ?? ''
  const before = known?.resets_at == null ? null : Date.parse(known.resets_at)
  // Runs that were refused before the account is tried again count as one try.
  const isSameTry = known?.limited_until != null && Date.parse(known.limited_until) > now
  const tries = Math.max(0, (known?.tries ?? 0) - (isSameTry ? 1 : 0))
  const reset = resetOf(usage_limit.resets_at, text, { now, before, isSameTry })
  const limited_until = new Date(retryAfterLimit({ now, reset, text, windows: base.windows, tries })).toISOString()
  tx.accounts.put({ ...base, limited_until, resets_at: isoOf(reset?.at ?? null), tries: tries + 1 })
  const { resets_at, doubtful } = limitView({ limited_until, resets_at: isoOf(reset?.at ?? null) }, nowIso(context))
  return { account, resets_at, retry_at: limited_until, doubtful }
}

/** Returns when the limit resets: as told beside the message, else by its words, else as other runs were told. */
function resetOf(
  told: string | null,
  text: string,
  { now, before, isSameTry }: { readonly now: number; readonly before: number | null; readonly isSameTry: boolean },
): Reset | null {
  const { timeZone: zone } = Intl.DateTimeFormat().resolvedOptions()
  const exact = told === null ? null : { at: Date.parse(told), undated: false }
  if (exact !== null && exact.at > now) return exact
  const read = readReset(text, { now, zone, before }) ?? exact
  const isKnown = isSameTry && before !== null && before > now
  return isKnown && (read === null || read.at <= now) ? { at: before, undated: false } : read
}

/** Describes an account's limit. A reset after the next try is doubtful; one that has passed is none. */
export function limitView(
  { limited_until, resets_at }: Pick<AccountRecord, 'limited_until' | 'resets_at'>,
  now: string,
): { readonly resets_at: string | null; readonly doubtful: boolean } {
  const coming = resets_at !== null && resets_at > now ? resets_at : null
  return { resets_at: coming, doubtful: coming !== null && limited_until !== null && coming > limited_until }
}

/** Lets the runs that wait for the account start: it works again. */
function releaseWaiting(context: Ground, tx: Tx, account: string): void {
  const now = nowIso(context)
  for (const { id, task_id, retry_at, status } of tx.executions.queue()) {
    if (status !== 'queued' || retry_at === null || retry_at <= now) continue
    const annotation = tx.tasks.get(task_id)?.error_annotation
    if (annotation?.type !== 'usage_limit' || annotation.account !== account) continue
    const record = tx.executions.get(id)
    if (record) tx.executions.put({ ...record, retry_at: now })
  }
}

/** Returns the account's record without its count of failures if those are long ago. */
function recent({ clock }: Ground, known: AccountRecord | null): AccountRecord | null {
  return known && clock.now() - Date.parse(known.told_at) > forgetTriesMs ? { ...known, tries: 0 } : known
}

const forgetTriesMs = 24 * 60 * 60_000

const isoOf = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())
