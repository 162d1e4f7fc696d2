import type { SyncCounts, SyncError } from '../../src-shared/contract/integrations.ts'
import { sinceOf } from './rules/next-poll.ts'
import type { SyncServices } from './sync-services.ts'
import { fail, finish, saveStep } from './sync-end.ts'
import { importPage, type ImportSource } from './import-page.ts'
import {
  TrackerError,
  type IntegrationRecord,
  type IssuePageResponse,
  type SyncCursor,
} from '../ports/issue-trackers.ts'
import { bindBeforeSending } from './secret-bindings.ts'
import { readBaseUrl } from './tracker-urls.ts'

/** How a cycle ended. `stopped`: the integration was changed or deleted, or the service stops. */
export type SyncEnd =
  | { readonly kind: 'done'; readonly counts: SyncCounts }
  | { readonly kind: 'failed'; readonly error: SyncError }
  | { readonly kind: 'stopped' }

/** After this long the pages of an interrupted cycle have shifted too much. */
const longestRestMs = 86_400_000

/** Limit for a tracker that does not report its number of pages. */
const maxPages = 1_000
const largestPage = 100

/**
 * Runs one sync cycle, or continues an interrupted one, page by page; each page is committed before the next is
 * imported. A failure is saved and emitted; throws only for a fault of the service.
 */
export async function syncOnce(deps: SyncServices, record: IntegrationRecord, signal: AbortSignal): Promise<SyncEnd> {
  const current = () => {
    const now = deps.store.read.integrations.byProject(record.project_id)
    return !signal.aborted && now?.id === record.id && now.updated_at === record.updated_at ? now : null
  }
  try {
    const counts = await walk(deps, record, current, signal)
    return counts === null ? { kind: 'stopped' } : { kind: 'done', counts }
  } catch (error) {
    if (current() === null) return { kind: 'stopped' }
    if (!(error instanceof TrackerError)) deps.log.error({ err: error, project_id: record.project_id }, 'a sync broke')
    return { kind: 'failed', error: fail(deps, record.project_id, error) }
  }
}

type Current = () => IntegrationRecord | null

async function walk(
  deps: SyncServices,
  record: IntegrationRecord,
  current: Current,
  signal: AbortSignal,
): Promise<SyncCounts | null> {
  const source = sourceOf(deps, record)
  const ahead = new AbortController()
  const ask: Pages['ask'] = (step) => askFor(deps, record, step, AbortSignal.any([signal, ahead.signal]))
  try {
    return await takePages(deps, { source, current, ask }, rest(deps, record) ?? begin(deps, largestPage))
  } finally {
    // Aborts the prefetch of an unneeded page.
    ahead.abort()
  }
}

interface Pages {
  readonly source: ImportSource
  readonly current: Current
  readonly ask: (step: Pick<SyncCursor, 'next_url' | 'page_size'>) => Promise<IssuePageResponse | 'too_large'>
}

/** Imports a page while the next one loads. */
async function takePages(
  deps: SyncServices,
  { source, current, ask }: Pages,
  first: SyncCursor,
): Promise<SyncCounts | null> {
  const seen = new Set<string | null>()
  let before: readonly unknown[] | null = null
  let step = first
  let coming = ask(step)
  for (;;) {
    const answer = await coming
    if (answer === 'too_large') {
      // Fewer issues may fit where many did not; imported ones are not imported again.
      step = { ...begin(deps, Math.max(1, Math.floor(step.page_size / 10))), ...countsOf(step) }
      seen.clear()
      before = null
      coming = ask(step)
      continue
    }
    const { next_url, not_before, items } = answer
    seen.add(step.next_url)
    if (step.next_url !== null && isSamePage(before, items)) throw samePage()
    before = items
    const isLast = next_url === null || items?.length === 0
    if (!isLast && seen.has(next_url)) {
      throw new TrackerError('bad_response', 'The pages of the tracker have no end: one leads back to another.')
    }
    if (!isLast && seen.size >= Math.max(maxPages, answer.pages_total ?? 0)) throw endless(seen.size)
    if (!isLast && not_before === null) {
      coming = ask({ next_url, page_size: step.page_size })
      // Prevents an unhandled rejection; the error is handled when the page is needed.
      coming.catch(() => undefined)
    }
    const counts = await importPage(deps, source, items ?? [], () => current() !== null)
    if (counts === null) return null
    step = nextCursor(deps, step, answer, counts)
    if (!keep(deps, current, step, answer, isLast)) return null
    if (isLast) return countsOf(step)
    if (not_before !== null) throw paused(not_before)
  }
}

/** Returns whether a server gave the page before again, as one does that ignores `page`. */
function isSamePage(before: readonly unknown[] | null, items: readonly unknown[] | null): boolean {
  return before !== null && items !== null && items.length > 0 && JSON.stringify(before) === JSON.stringify(items)
}

function samePage(): TrackerError {
  return new TrackerError(
    'bad_response',
    'The tracker gives the same page again for the next one, so Copse cannot see whether there is more. What was read is imported. Take fewer issues, by sync_filter.labels, or let the tracker heed the page that is asked for.',
  )
}

function endless(pages: number): TrackerError {
  const read = `Copse read ${pages.toLocaleString('en')} pages of the tracker, and it names a next one still.`
  return new TrackerError(
    'bad_response',
    `${read} What was read is imported. Take fewer issues, by sync_filter.labels.`,
  )
}

/** Saves that a page is done; returns whether the cycle continues. */
function keep(
  deps: SyncServices,
  current: Current,
  step: SyncCursor,
  answer: IssuePageResponse,
  isLast: boolean,
): boolean {
  return deps.feed.commit((tx) => {
    const now = current()
    if (now === null) return false
    if (isLast) finish(deps, tx, now, step, answer)
    else saveStep(tx, now, step, answer)
    return true
  })
}

function sourceOf(deps: SyncServices, record: IntegrationRecord): ImportSource {
  const base = readBaseUrl(record.platform, record.base_url)
  if (typeof base === 'string') throw new TrackerError('unreachable', base)
  if (record.not_before !== null && Date.parse(record.not_before) > deps.clock.now()) {
    throw paused(Date.parse(record.not_before))
  }
  return { record, base }
}

function paused(until: number): TrackerError {
  const message = "The tracker's rate limit is reached. Copse continues when it resets."
  return new TrackerError('rate_limited', message, until)
}

async function askFor(
  deps: SyncServices,
  record: IntegrationRecord,
  step: Pick<SyncCursor, 'next_url' | 'page_size'>,
  signal: AbortSignal,
): Promise<IssuePageResponse | 'too_large'> {
  const { since, etag } = record
  // Closed ones tell of the end of tasks, but the first sync brings all that ever were.
  const state = record.write_back.follow && since !== null ? 'all' : 'open'
  bindBeforeSending(deps, record)
  try {
    const { next_url: url, page_size } = step
    return await deps.trackers.page({ source: record, url, state, since, etag, page_size }, { signal })
  } catch (error) {
    if (error instanceof TrackerError && error.code === 'too_large' && step.page_size > 1) return 'too_large'
    throw error
  }
}

/** Returns the rest of an interrupted cycle. */
function rest(deps: SyncServices, { walk: left }: IntegrationRecord): SyncCursor | null {
  return left && deps.clock.now() - Date.parse(left.started_at) < longestRestMs ? left : null
}

function begin(deps: SyncServices, page_size: number): SyncCursor {
  const now = deps.clock.now()
  return {
    started_at: new Date(now).toISOString(),
    pages: 0,
    pages_total: null,
    imported: 0,
    skipped: 0,
    errors: 0,
    next_url: null,
    next_since: sinceOf(now, null),
    page_size,
  }
}

function nextCursor(deps: SyncServices, step: SyncCursor, answer: IssuePageResponse, counts: SyncCounts): SyncCursor {
  const pages_total = answer.pages_total ?? step.pages_total
  const pages = step.pages + 1
  return {
    ...step,
    pages,
    pages_total: pages_total === null ? null : Math.max(pages, pages_total),
    imported: step.imported + counts.imported,
    skipped: step.skipped + counts.skipped,
    errors: step.errors + counts.errors,
    next_url: answer.next_url,
    // Uses the tracker's clock at the first page.
    ...(step.pages === 0 && { next_since: sinceOf(deps.clock.now(), answer.date) }),
  }
}

function countsOf({ imported, skipped, errors }: SyncCounts): SyncCounts {
  return { imported, skipped, errors }
}
