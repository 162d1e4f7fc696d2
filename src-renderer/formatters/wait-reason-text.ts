import { timeOfDay } from './time-of-day.ts'
import type { Queue } from '../../src-shared/contract/queue.ts'

type QueuedEntry = Pick<Queue['waiting'][number], 'reason' | 'position' | 'retry_at'>

/**
 * Describes in a few words why an agent waits. `held`: a hook of its task failed and blocks it. `runners`: the names of
 * those that it waits for.
 */
export function waitReasonText(
  { reason, position, retry_at }: QueuedEntry,
  held: boolean,
  runners: readonly string[] = [],
): string {
  switch (reason) {
    case 'entering':
      return held ? 'Hook failed' : 'Running hooks'
    case 'task_paused':
      return 'Sent when you resume'
    case 'task_busy':
      return 'After the current run'
    case 'project_paused':
      return 'Project paused'
    case 'agent_paused':
      return 'Agent paused'
    case 'worktree_busy':
      return 'Worktree in use'
    case 'slots_full':
      return position === null || position === 1 ? 'Starts next' : `${ordinal(position)} in queue`
    case 'runner_full':
    case 'runner_unreachable':
      return awaitedText(runners, reason)
    case 'limit_reached':
      return 'Limit reached'
    case 'usage_limit':
    case 'retry_later':
      return retry_at === undefined ? 'Waiting' : `Continues at ${timeOfDay(retry_at)}`
    case 'starting':
      return 'Starting'
  }
}

/** Says why a queued run waits for runners. Without known names it speaks of runners in general. */
function awaitedText(names: readonly string[], reason: 'runner_full' | 'runner_unreachable'): string {
  const [first, second] = names
  const isFull = reason === 'runner_full'
  if (first === undefined) return isFull ? 'Runner full' : 'Runner not ready'
  if (second === undefined) return `${first} ${isFull ? 'is full' : 'isn’t ready'}`
  if (names.length === 2) return `${first} and ${second} ${isFull ? 'are full' : 'aren’t ready'}`
  return isFull ? `All ${names.length} runners are full` : `None of ${names.length} runners is ready`
}

const plurals = new Intl.PluralRules('en', { type: 'ordinal' })
const endings: Readonly<Partial<Record<Intl.LDMLPluralRule, string>>> = { one: 'st', two: 'nd', few: 'rd' }

function ordinal(n: number): string {
  return `${n}${endings[plurals.select(n)] ?? 'th'}`
}
