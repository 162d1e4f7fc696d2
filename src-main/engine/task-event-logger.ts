import type { EventEnvelope } from '../../src-shared/contract/events.ts'
import { pluginTraits } from '../plugins/create-plugins.ts'
import type { Logger } from '../platform/logging/log.ts'

/**
 * Creates a logger of task events: a line in the service's log for each transition, run and check result. IDs and
 * outcomes only, never texts of people or agents.
 */
export function createTaskEventLogger(log: Logger): (event: EventEnvelope) => void {
  /** The last review's logged result per task: it is in every step and verdict event, but is logged once. */
  const ends = new Map<string, string>()
  return (event) => {
    if (event.type === 'review.updated') {
      const { id, status } = event.data.review
      const end = `${id} ${status}`
      if (ends.get(event.data.task_id) === end) return
      ends.set(event.data.task_id, end)
    }
    if (event.type === 'workspace.cleaned' || event.type === 'task.deleted') ends.delete(event.data.task_id)
    const told = describeEvent(event)
    if (!told) return
    const { project_id } = event.data
    const task_id = 'task_id' in event.data ? event.data.task_id : undefined
    log[told.level ?? 'info']({ project_id, task_id, ...told.fields }, told.message)
  }
}

interface LogEntry {
  readonly message: string
  readonly fields?: Readonly<Record<string, unknown>>
  readonly level?: 'warn'
}

/** Returns null for events without a log line: edits, temporary states, and facts of other events. */
function describeEvent({ type, data }: EventEnvelope): LogEntry | null {
  switch (type) {
    case 'task.created':
      return { message: 'a task was made', fields: { status: data.task.status } }
    case 'task.transitioned': {
      const { from_state, to_state, triggered_by, task } = data
      const why = task.error_annotation && { condition: task.error_annotation.type }
      return { message: 'a task moved', fields: { from: from_state, to: to_state, by: triggered_by, ...why } }
    }
    case 'task.deleted':
      return { message: 'a task was deleted' }
    case 'execution.started': {
      const { id, role, agent_id, user_id, executor } = data.execution
      const who = agent_id === null ? { user_id } : { agent_id }
      return { message: 'an execution began', fields: { execution_id: id, role, ...who, executor } }
    }
    case 'execution.finished': {
      const { id, role, status, exit_code } = data.execution
      const isTrouble = status === 'failed' || status === 'lost'
      const fields = { execution_id: id, role, status, exit_code }
      return { message: 'an execution ended', fields, ...(isTrouble && { level: 'warn' }) }
    }
    case 'review.updated': {
      const { id, attempt_number, status, step_results } = data.review
      if (status === 'pending' || status === 'running') return null
      const red = step_results.find(({ exit_code }) => exit_code !== 0)
      const step = red && { step: step_results.indexOf(red) + 1, exit_code: red.exit_code }
      return { message: 'a review ended', fields: { review_id: id, attempt: attempt_number, status, ...step } }
    }
    case 'hook.finished': {
      const { phase, action, outcome } = data.hook
      // The review event reports the result of CI.
      if ((outcome !== 'failed' && outcome !== 'blocked') || pluginTraits.get(action)?.traits.includes('makes_gate'))
        return null
      return { message: 'a hook said no', fields: { phase, action, outcome }, level: 'warn' }
    }
    case 'workspace.cleaned':
      return { message: 'a worktree was removed', fields: { workspace_id: data.workspace_id, branch: data.branch } }
    default:
      return null
  }
}
