import type { ErrorAnnotation, Task } from '../../../src-shared/contract/tasks.ts'
import { kindOf } from '../../../src-shared/contract/notification-types.ts'
import type { Notification } from '../../../src-shared/contract/notifications.ts'

const sectionIds = ['needs_you', 'held', 'info'] as const
export type SectionId = (typeof sectionIds)[number]

export const sectionLabels: Readonly<Record<SectionId, string>> = {
  needs_you: 'Needs you',
  held: 'Held',
  info: 'For your information',
}

/** A part of the inbox with its rows, newest first. */
export interface InboxSection {
  readonly id: SectionId
  readonly items: readonly Notification[]
}

/** What keeps a task from running until a limit, a provider or the person who stopped it lets it go on. */
const holding: ReadonlySet<ErrorAnnotation['type']> = new Set(['usage_limit', 'limit_reached', 'execution_paused'])

/**
 * Returns where a notification stands, by what its task is now and not by what it was: a failure that was restarted
 * is for information. Without its task only the notification is known.
 */
export function sectionOf(
  { event_type, read }: Pick<Notification, 'event_type' | 'read'>,
  task: Pick<Task, 'error_annotation'> | null,
  needsYou: boolean,
): SectionId {
  if (task === null) return kindOf(event_type) === 'finished' ? 'info' : 'needs_you'
  if (task.error_annotation && holding.has(task.error_annotation.type)) return 'held'
  // Proposals hold no task up, so only the notification tells whether someone has looked.
  if ((event_type === 'knowledge.proposed' || event_type === 'pull_request.needs_you') && !read) return 'needs_you'
  return needsYou ? 'needs_you' : 'info'
}

/** Returns the sections that have rows, in order. */
export function sectionsOf(
  items: readonly Notification[],
  section: (item: Notification) => SectionId,
): readonly InboxSection[] {
  const bySection = Map.groupBy(items, section)
  return sectionIds.flatMap((id) => {
    const rows = bySection.get(id)
    return rows ? [{ id, items: rows }] : []
  })
}
