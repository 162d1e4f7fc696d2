import type {
  PullRequestCheck,
  PullRequestReview,
  PullRequestState,
  PullRequestThread,
  PullRequestWait,
} from '../../../src-shared/contract/pull-requests.ts'
import type { GlyphName, Tone } from '../../components/state-glyphs.ts'

interface Face {
  readonly label: string
  readonly glyph: GlyphName
  readonly tone: Tone
}

export const stateFaces: Readonly<Record<PullRequestState, Face>> = {
  draft: { label: 'Draft', glyph: 'initial', tone: 'neutral' },
  open: { label: 'Open', glyph: 'active', tone: 'run' },
  merged: { label: 'Merged', glyph: 'terminal', tone: 'ok' },
  closed: { label: 'Closed', glyph: 'cancelled', tone: 'neutral' },
}

export const checkFaces: Readonly<Record<PullRequestCheck['state'], Face>> = {
  queued: { label: 'Queued', glyph: 'waiting', tone: 'neutral' },
  running: { label: 'Running', glyph: 'running', tone: 'run' },
  passed: { label: 'Passed', glyph: 'terminal', tone: 'ok' },
  failed: { label: 'Failed', glyph: 'failed', tone: 'fail' },
  cancelled: { label: 'Cancelled', glyph: 'cancelled', tone: 'neutral' },
  skipped: { label: 'Skipped', glyph: 'skipped', tone: 'neutral' },
}

export const reviewFaces: Readonly<Record<PullRequestReview['state'], Face>> = {
  approved: { label: 'Approved', glyph: 'succeeded', tone: 'ok' },
  changes_requested: { label: 'Requests changes', glyph: 'gate', tone: 'you' },
  commented: { label: 'Commented', glyph: 'gate-waiting', tone: 'neutral' },
  dismissed: { label: 'Dismissed', glyph: 'cancelled', tone: 'neutral' },
  requested: { label: 'Asked for a review', glyph: 'waiting', tone: 'neutral' },
}

/** What to do about a wait that no button ends. */
export const waitHints: Partial<Record<PullRequestWait, (target: string) => string>> = {
  conflict: (target) => `Request changes, or merge ${target} into the branch in Workspace.`,
  stack: () => 'The one below in its stack is merged first.',
  review: () => 'Only commits that were reviewed here are merged from here.',
}

const order: readonly PullRequestCheck['state'][] = ['failed', 'running', 'queued', 'cancelled', 'passed', 'skipped']

/** Returns the checks with those first that matter most: failed before running, required before optional. */
export function sortChecks(checks: readonly PullRequestCheck[]): readonly PullRequestCheck[] {
  const rank = ({ required, state }: PullRequestCheck) => order.indexOf(state) * 2 + (required === false ? 1 : 0)
  return checks.toSorted((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name))
}

/** Returns whether the merge needs the check, or why it doesn't count; null where that isn't known. */
export function needOf({ required, inherited, state }: PullRequestCheck, target: string): string | null {
  if (inherited && state === 'failed') return `Fails on ${target} too`
  if (required === null) return null
  return required ? 'Required' : 'Optional'
}

export interface FileThreads {
  /** null: of the whole pull request. */
  readonly path: string | null
  readonly threads: readonly PullRequestThread[]
  readonly open: number
}

/** Groups threads by file in the order of the paths, those of the whole pull request first. */
export function threadsByFile(threads: readonly PullRequestThread[]): readonly FileThreads[] {
  const files = [...Map.groupBy(threads, ({ path }) => path)]
  return files
    .toSorted(([a], [b]) => (a ?? '').localeCompare(b ?? ''))
    .map(([path, own]) => ({
      path,
      threads: own.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)),
      open: own.filter(({ resolved }) => !resolved).length,
    }))
}
