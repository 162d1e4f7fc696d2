import type { Integration, SyncCounts } from '../../../src-shared/contract/integrations.ts'
import type { GlyphName, Tone } from '../../components/state-glyphs.ts'
import { count } from '../../formatters/format-amounts.ts'

interface Standing {
  readonly label: string
  readonly tone: Tone
  readonly glyph: GlyphName
}

/** Returns the status of an integration in a few words. */
export function syncStatus(integration: Integration, busy: boolean): Standing {
  if (!integration.enabled) return { label: 'Off', tone: 'neutral', glyph: 'skipped' }
  if (integration.syncing || busy) return { label: 'Importing', tone: 'run', glyph: 'running' }
  const reason = integration.last_error?.reason
  if (reason === 'rate_limited') return { label: 'Waiting for the tracker', tone: 'warn', glyph: 'clock' }
  if (reason !== undefined) return { label: 'Failed', tone: 'fail', glyph: 'failed' }
  if (integration.last_polled_at === null) return { label: 'Not synced yet', tone: 'neutral', glyph: 'waiting' }
  return { label: 'Up to date', tone: 'ok', glyph: 'succeeded' }
}

/** Returns the progress of an import as text and as a fraction from 0 to 1; null if unknown. */
export function progressOf({ progress }: Pick<Integration, 'progress'>): { text: string; part: number | null } | null {
  if (!progress) return null
  const { pages, pages_total, imported } = progress
  const where = pages_total === null ? `Page ${pages}` : `Page ${pages} of ${pages_total}`
  const part = pages_total === null ? null : pages / pages_total
  return { text: `${where} · ${count(imported, 'issue')} imported`, part }
}

/** Returns the result of a manual sync. */
export function syncSentence({ imported, skipped, errors }: SyncCounts): string {
  const known = skipped > 0 ? `, ${skipped} already imported` : ''
  const failed = errors > 0 ? `, ${errors} could not be read` : ''
  return `${imported === 0 ? 'No new issues' : `${count(imported, 'issue')} imported`}${known}${failed}`
}

/** Returns the time until a future date: `any moment`, `in 4 min`, `in 2 h`. */
export function untilWords(at: string, now: number): string {
  const minutes = Math.ceil((Date.parse(at) - now) / 60_000)
  if (minutes <= 0) return 'any moment'
  return minutes < 90 ? `in ${minutes} min` : `in ${Math.round(minutes / 60)} h`
}
