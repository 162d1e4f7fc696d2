/** The milestones that somebody may hear of. Apart from their shapes, since the page's first script knows them too. */
export const notificationTypes = [
  'task.done',
  'task.blocked',
  'review.passed',
  'review.failed',
  'merge.failed',
  'execution.asks',
  'limit.warning',
] as const
export type NotificationType = (typeof notificationTypes)[number]

export const notificationTones = ['success', 'warning'] as const
export type NotificationTone = (typeof notificationTones)[number]

const successes: readonly NotificationType[] = ['task.done', 'review.passed']

/** Whether a notification is good news; all that is not is a warning. */
export function toneOf(type: NotificationType): NotificationTone {
  return successes.includes(type) ? 'success' : 'warning'
}

export const notificationKinds = ['needs_you', 'failed', 'finished'] as const
export type NotificationKind = (typeof notificationKinds)[number]

const kinds: { readonly [T in NotificationType]: NotificationKind } = {
  'task.done': 'finished',
  'task.blocked': 'needs_you',
  'review.passed': 'needs_you',
  'review.failed': 'failed',
  'merge.failed': 'failed',
  'execution.asks': 'needs_you',
  'limit.warning': 'needs_you',
}

/** What a notification is to whoever gets it: something to decide, something that went wrong, or done. */
export function kindOf(type: NotificationType): NotificationKind {
  return kinds[type]
}
