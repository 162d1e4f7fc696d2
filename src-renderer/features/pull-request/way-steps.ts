import type { PullRequest, PullRequestCan } from '../../../src-shared/contract/pull-requests.ts'
import type { GlyphName } from '../../components/state-glyphs.ts'
import { openThreads, requiredChecks, someNames } from '../../model/pull-request-text.ts'

/** One step on the way of a pull request into its target. */
export interface WayStep {
  readonly id: 'opened' | 'ready' | 'conflicts' | 'checks' | 'threads' | 'approved' | 'below' | 'queue' | 'merged'
  readonly label: string
  readonly glyph: GlyphName
  /** How far it is, in a few words. */
  readonly end: string
}

/** Returns the steps that this pull request has to take, done or not. */
export function waySteps(pull: PullRequest, forge: string, can: PullRequestCan | null): readonly WayStep[] {
  const isOpen = pull.state === 'open' || pull.state === 'draft'
  return [
    { id: 'opened', label: `Opened as #${pull.number}`, glyph: 'terminal', end: '' },
    ...(isOpen ? [...draftStep(pull), ...conflictStep(pull), checkStep(pull)] : []),
    ...(isOpen ? [...threadStep(pull), ...approvalStep(pull, forge), ...belowStep(pull), ...queueStep(pull, can)] : []),
    mergedStep(pull),
  ]
}

function draftStep({ state }: PullRequest): readonly WayStep[] {
  return state === 'draft' ? [{ id: 'ready', label: 'Ready for review', glyph: 'gate', end: 'draft' }] : []
}

function conflictStep({ mergeable, target }: PullRequest): readonly WayStep[] {
  if (mergeable === false) return [{ id: 'conflicts', label: 'No conflicts', glyph: 'failed', end: `with ${target}` }]
  return mergeable === null ? [{ id: 'conflicts', label: 'No conflicts', glyph: 'waiting', end: 'not known yet' }] : []
}

function checkStep({ checks }: PullRequest): WayStep {
  const { counting, passed, failed, inherited, cancelled, running } = requiredChecks(checks)
  const step = (glyph: GlyphName, end: string): WayStep => ({ id: 'checks', label: 'Checks', glyph, end })
  if (failed.length > 0) return step('failed', `${failed.length} failed`)
  if (running.length > 0) return step('running', `${passed.length} of ${counting.length}`)
  if (inherited.length > 0) return step('clock', `${inherited.length} not by this change`)
  if (cancelled.length > 0) return step('clock', `${cancelled.length} cancelled`)
  return counting.length === 0 ? step('waiting', 'none yet') : step('terminal', `${passed.length} passed`)
}

function threadStep(pull: PullRequest): readonly WayStep[] {
  const { threads } = pull
  if (threads.length === 0) return []
  const done = threads.filter(({ resolved }) => resolved).length
  const glyph = openThreads(pull).length > 0 ? 'gate' : done === threads.length ? 'terminal' : 'waiting'
  return [{ id: 'threads', label: 'Threads resolved', glyph, end: `${done} of ${threads.length}` }]
}

function approvalStep({ reviews, waiting_for }: PullRequest, forge: string): readonly WayStep[] {
  const by = (state: string) => reviews.filter((review) => review.state === state).map(({ author }) => author)
  const step = (glyph: GlyphName, end: string): readonly WayStep[] => [
    { id: 'approved', label: `Approved on ${forge}`, glyph, end },
  ]
  if (by('changes_requested').length > 0) return step('gate', `${someNames(by('changes_requested'))} wants changes`)
  if (waiting_for.includes('approval')) return step('waiting', someNames(by('requested')) || 'not yet')
  return by('approved').length > 0 ? step('terminal', someNames(by('approved'))) : []
}

function belowStep({ below }: PullRequest): readonly WayStep[] {
  if (below === null) return []
  const label = below.number === null ? 'Task below merged' : `#${below.number} merged`
  return [{ id: 'below', label, glyph: 'waiting', end: 'not yet' }]
}

function queueStep({ waiting_for }: PullRequest, can: PullRequestCan | null): readonly WayStep[] {
  const isQueued = waiting_for.includes('queue')
  if (!isQueued && can?.queue !== true) return []
  return [
    {
      id: 'queue',
      label: 'In the merge queue',
      glyph: isQueued ? 'running' : 'waiting',
      end: isQueued ? '' : 'not yet',
    },
  ]
}

function mergedStep({ state, merge_commit }: PullRequest): WayStep {
  if (state === 'merged')
    return { id: 'merged', label: 'Merged', glyph: 'terminal', end: merge_commit?.slice(0, 7) ?? '' }
  if (state === 'closed') return { id: 'merged', label: 'Merged', glyph: 'cancelled', end: 'closed instead' }
  return { id: 'merged', label: 'Merged, then done here', glyph: 'waiting', end: '' }
}
