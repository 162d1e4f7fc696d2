import { nowIso } from '../core/ground.ts'
import { redactorOf } from '../core/redactor-of.ts'
import { ForgeError, type ForgeCheck, type Pull } from '../ports/forges.ts'
import type { IntegrationRecord } from '../ports/issue-trackers.ts'
import type { KnownCheck, PullRequestPart, PullRequestRecord } from '../ports/pull-request-queries.ts'
import { bindBeforeSending } from '../integrations/secret-bindings.ts'
import { TrackerError } from '../ports/issue-trackers.ts'
import { troubleOf } from './forge-errors.ts'
import { fieldsOf, savePull } from './pull-records.ts'
import type { PullRequestDeps } from './pull-request-ground.ts'
import { isTermNew, nextSync } from './rules/next-sync.ts'

interface Sync {
  readonly deps: PullRequestDeps
  readonly connection: IntegrationRecord
  readonly record: PullRequestRecord
  readonly signal: AbortSignal
}

/**
 * Asks the forge for everything of a pull request and saves it. What one part of the questions is refused, leaves what
 * was known of that part. Throws `ForgeError` if the pull request itself can't be read; the record says so then too.
 */
export async function syncPull(
  deps: PullRequestDeps,
  connection: IntegrationRecord,
  record: PullRequestRecord,
  signal: AbortSignal,
  everything: boolean,
): Promise<PullRequestRecord | null> {
  const sync = { deps, connection, record, signal }
  const { context } = deps
  const { forges } = context
  try {
    bindBeforeSending(context, connection)
    const pull = await forges.read(connection, record.number, { signal })
    const isNew = everything || pull.updated_at !== record.updated_there || pull.head.commit !== record.head
    const checks = await readChecks(sync, pull, isNew)
    const parts = isNew
      ? await readTalk(sync)
      : { threads: record.threads, reviews: record.reviews, comments: record.comments }
    return save(sync, { ...fieldsOf(pull), updated_there: pull.updated_at, checks, ...parts }, isNew)
  } catch (error) {
    if (signal.aborted) throw error
    noteFailure(sync, error)
    throw error
  }
}

function save(
  { deps, record, connection }: Sync,
  told: Partial<PullRequestRecord>,
  everything: boolean,
): PullRequestRecord | null {
  const { context } = deps
  return context.feed.commit((tx) => {
    // It may have been pushed to, or replaced by another, while the forge answered.
    const current = tx.pull_requests.of(record.task_id)
    if (current?.number !== record.number) return null
    const isPushed = current.pushed !== record.pushed
    const next: PullRequestRecord = {
      ...current,
      ...told,
      ...(isPushed && { head: current.head }),
      last_error: null,
      failures: 0,
      synced_at: tx.now(),
      read_all_at: everything ? tx.now() : current.read_all_at,
    }
    const due = nextSync(next, { now: context.clock.now(), interval_secs: connection.poll_interval_secs })
    return savePull(deps, tx, { ...next, next_poll_at: new Date(isPushed ? context.clock.now() : due).toISOString() })
  })
}

function noteFailure({ deps, record, connection }: Sync, error: unknown): void {
  const { context } = deps
  const at = nowIso(context)
  const trouble =
    error instanceof TrackerError
      ? { reason: 'missing_secret' as const, message: error.message, right: null, url: null, occurred_at: at }
      : troubleOf(error, at)
  context.feed.commit((tx) => {
    const current = tx.pull_requests.of(record.task_id)
    if (current?.number !== record.number) return
    const failed = { ...current, last_error: trouble, failures: current.failures + 1 }
    const not_before = error instanceof ForgeError ? (error.not_before ?? 0) : 0
    const due = nextSync(failed, { now: context.clock.now(), interval_secs: connection.poll_interval_secs })
    savePull(deps, tx, { ...failed, next_poll_at: new Date(Math.max(due, not_before)).toISOString() })
  })
}

/** Asks for one part; an error of the forge leaves what was known, with the error beside it. */
async function readPart<T>(
  { deps, signal }: Sync,
  known: PullRequestPart<T>,
  ask: () => Promise<readonly T[]>,
): Promise<PullRequestPart<T>> {
  try {
    return { items: await ask(), read_at: nowIso(deps.context), error: null }
  } catch (error) {
    if (signal.aborted || !(error instanceof ForgeError)) throw error
    // When the forge itself fails, the rest would fail too.
    if (['unreachable', 'rate_limited', 'unauthorized', 'missing_secret'].includes(error.code)) throw error
    return { ...known, error: troubleOf(error, nowIso(deps.context)) }
  }
}

async function readTalk(sync: Sync): Promise<Pick<PullRequestRecord, 'threads' | 'reviews' | 'comments'>> {
  const { deps, connection, record, signal } = sync
  const { forges } = deps.context
  const { number } = record
  return {
    threads: await readPart(sync, record.threads, () => forges.threads(connection, number, { signal })),
    reviews: await readPart(sync, record.reviews, () => forges.reviews(connection, number, { signal })),
    comments: await readPart(sync, record.comments, () =>
      forges.comments(connection, { kind: 'pull', number }, { signal }),
    ),
  }
}

async function readChecks(sync: Sync, pull: Pull, everything: boolean): Promise<PullRequestRecord['checks']> {
  const { deps, connection, record, signal } = sync
  let seen = record.checks.seen
  const part = await readPart(sync, record.checks, async () => {
    const told = await deps.context.forges.checks(connection, pull, { signal })
    seen = told.seen
    const known = pull.head.commit === record.head ? record.checks.items : []
    const there = await redThereToo(sync, pull, told.checks, everything ? [] : known)
    const items: KnownCheck[] = []
    for (const check of told.checks) items.push(await withLog(sync, check, known, there))
    return items
  })
  return { ...part, seen }
}

/**
 * Returns the names of the failed checks that fail on the target too. For those that were red before, the target is
 * asked seldom: a pull request may stay red for days.
 */
async function redThereToo(
  sync: Sync,
  pull: Pull,
  checks: readonly ForgeCheck[],
  known: readonly KnownCheck[],
): Promise<ReadonlySet<string>> {
  const red = checks.filter(({ state }) => state === 'failed')
  if (red.length === 0) return new Set()
  const before = new Map(known.filter(({ state }) => state === 'failed').map((check) => [check.name, check]))
  const isKnown = red.every(({ name, job }) => before.get(name)?.job === job)
  if (!isKnown || isTermNew(sync.record.synced_at, sync.deps.context.clock.now())) return redOnTarget(sync, pull)
  return new Set([...before.values()].filter(({ inherited }) => inherited).map(({ name }) => name))
}

/** Returns the names of the checks that fail on the target. */
async function redOnTarget({ deps, connection, signal }: Sync, { target }: Pull): Promise<ReadonlySet<string>> {
  try {
    const checks = await deps.context.forges.checksOf(connection, target, { signal })
    return new Set(checks.filter(({ state }) => state === 'failed').map(({ name }) => name))
  } catch (error) {
    if (!(error instanceof ForgeError) || error.code === 'rate_limited') throw error
    return new Set()
  }
}

/** Adds the end of a failed check's log, which is asked for once. */
async function withLog(
  { deps, connection, record, signal }: Sync,
  { job, ...check }: ForgeCheck,
  known: readonly KnownCheck[],
  redThere: ReadonlySet<string>,
): Promise<KnownCheck> {
  const inherited = check.state === 'failed' && redThere.has(check.name)
  const before = known.find((one) => one.name === check.name && one.job === job)
  const since = before?.state === check.state ? before.since : nowIso(deps.context)
  const none = { ...check, log_tail: null, inherited, job, since }
  if (check.state !== 'failed' || job === null) return none
  if (before && before.log_tail !== null) return { ...none, log_tail: before.log_tail }
  try {
    const log = await deps.context.forges.log(connection, job, { signal })
    const redact = redactorOf(deps.context, deps.context.store.read, record.project_id)
    return { ...none, log_tail: log === null ? null : redact(log).slice(-maxLogTail) }
  } catch (error) {
    if (!(error instanceof ForgeError) || error.code === 'rate_limited') throw error
    return none
  }
}

/** In characters: what an agent is told and a person reads, not what is downloaded. */
const maxLogTail = 20_000
