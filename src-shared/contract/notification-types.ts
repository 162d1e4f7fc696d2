/** Events that create notifications. Separate from their schemas, because the page's first script uses them too. */
export const notificationTypes = [
  'task.done',
  'task.blocked',
  'review.passed',
  'review.failed',
  'merge.failed',
  'execution.asks',
  'execution.failed',
  'limit.warning',
  'knowledge.proposed',
  'pull_request.needs_you',
] as const
export type NotificationType = (typeof notificationTypes)[number]

const notificationTones = ['success', 'warning'] as const
export type NotificationTone = (typeof notificationTones)[number]

const successes: readonly NotificationType[] = ['task.done', 'review.passed']

/** Returns whether a notification is good news; all others are warnings. */
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
  'execution.failed': 'failed',
  'limit.warning': 'needs_you',
  'knowledge.proposed': 'needs_you',
  'pull_request.needs_you': 'needs_you',
}

/** Returns the kind of a notification for its recipient: a decision, a problem, or done. */
export function kindOf(type: NotificationType): NotificationKind {
  return kinds[type]
}
