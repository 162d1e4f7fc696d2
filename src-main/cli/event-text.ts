import type { EventEnvelope } from '../../src-shared/contract/events.ts'
import { paint, plain } from './output.ts'
import { shortId } from './pick.ts'

/** Formats an event as one line for people; `--json` prints all of it. */
export function eventText({ type, data }: EventEnvelope): string {
  const at = paint('dim', new Date(data.occurred_at).toLocaleTimeString('en-GB'))
  const task = 'task_id' in data ? `${shortId(data.task_id)} ` : ''
  const more = detailOf({ type, data } as EventEnvelope)
  return `${at} ${paint('cyan', type)} ${task}${plain(more).replaceAll(/\s+/g, ' ')}`.trimEnd()
}

function detailOf(event: EventEnvelope): string {
  switch (event.type) {
    case 'task.transitioned':
      return `${event.data.from_state} to ${event.data.to_state} by ${event.data.triggered_by}`
    case 'task.created':
    case 'task.updated':
      return event.data.task.title
    case 'execution.updated':
    case 'execution.started':
    case 'execution.finished':
      return `${event.data.execution.role} ${event.data.execution.status}`
    case 'review.updated':
      return `attempt ${event.data.review.attempt_number} ${event.data.review.status}`
    case 'workspace.updated':
      return `${event.data.branch} ${event.data.status}`
    case 'notification.created':
      return event.data.title
    case 'notification.read':
      return `${event.data.notification_id ?? 'all'} ${event.data.read ? 'read' : 'not read'}`
    case 'comment.created':
    case 'comment.updated':
      return `${event.data.comment.author.name}: ${event.data.comment.body}`
    case 'hook.finished':
      return `${event.data.hook.phase} ${event.data.hook.action} ${event.data.hook.outcome}`
    case 'transition.effect_failed':
      return `${event.data.phase} ${event.data.action}: ${event.data.reason}`
    case 'agent.updated':
      return event.data.agent?.name ?? 'deleted'
    case 'project.updated':
      return event.data.project?.name ?? 'deleted'
    default:
      return ''
  }
}
