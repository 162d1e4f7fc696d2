import { toneOf, type NotificationType } from '../../../src-shared/contract/notification-types.ts'
import type { Notification } from '../../../src-shared/contract/notifications.ts'
import type { GlyphName, Tone } from '../../components/state-glyphs.ts'

/** The glyph and texts of a notification type. */
export interface NoticeWords {
  readonly glyph: GlyphName
  readonly label: string
  readonly tone: Tone
  /** The tab of the task that shows the reason. */
  readonly tab: string
}

const known: Partial<Record<NotificationType, NoticeWords>> = {
  'task.done': { glyph: 'terminal', label: 'Done', tone: 'ok', tab: 'overview' },
  'task.blocked': { glyph: 'blocked', label: 'Blocked', tone: 'warn', tab: 'overview' },
  'review.passed': { glyph: 'gate-passed', label: 'Ready for review', tone: 'ok', tab: 'review' },
  'review.failed': { glyph: 'failed', label: 'Review failed', tone: 'fail', tab: 'review' },
  'execution.failed': { glyph: 'failed', label: 'Agent failed', tone: 'fail', tab: 'agent' },
  'execution.asks': { glyph: 'clock', label: 'Question', tone: 'you', tab: 'agent' },
  'knowledge.proposed': { glyph: 'clock', label: 'Knowledge proposed', tone: 'you', tab: 'overview' },
  'pull_request.needs_you': { glyph: 'gate', label: 'Pull request', tone: 'you', tab: 'pull_request' },
  'merge.failed': { glyph: 'merge-failed', label: 'Merge failed', tone: 'fail', tab: 'review' },
}

/** Returns the texts of a notification type; an unknown type gets those of its tone. */
export function notificationLabels(type: NotificationType): NoticeWords {
  const fallback: NoticeWords =
    toneOf(type) === 'success'
      ? { glyph: 'succeeded', label: 'Update', tone: 'ok', tab: 'overview' }
      : { glyph: 'clock', label: 'Needs you', tone: 'warn', tab: 'agent' }
  return known[type] ?? fallback
}

/**
 * Returns one line about the event, below the task's title. `isAtGate`: the task waits for a
 * decision.
 */
export function noticeSentence(item: Pick<Notification, 'event_type' | 'body'>, isAtGate: boolean): string {
  const reason = firstLine(item)?.replaceAll('`', '') ?? null
  // The decision beside it shows whether the work was reviewed.
  if (item.event_type === 'review.passed') return isAtGate ? 'Ready for your review' : 'Was ready for review'
  const { label } = notificationLabels(item.event_type)
  return reason === null ? label : `${label}: ${reason}`
}

/** Returns the first line of the body. */
export function firstLine({ body }: Pick<Notification, 'body'>): string | null {
  return (
    body
      ?.split('\n')
      .map((line) => line.trim())
      .find((line) => line !== '') ?? null
  )
}
