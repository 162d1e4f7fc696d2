import type { Execution } from '../../../src-shared/contract/executions.ts'
import type { ActivityFacts, ActivityItem } from './activity-item.ts'
import { hookItems } from './hook-items.ts'
import { judgedBy, reviewItems } from './review-items.ts'

/** Returns all timeline entries, oldest first. */
export function activityItems(facts: ActivityFacts): ActivityItem[] {
  const { task, workspace, comments, transitions, reviews } = facts
  const made = workspace && workspace.status !== 'creating' && workspace.base_commit !== null ? [workspace] : []
  const items: ActivityItem[] = [
    { kind: 'created', key: 'created', at: task.created_at, task },
    ...made.map((one): ActivityItem => ({ kind: 'worktree', key: one.id, at: one.created_at, workspace: one })),
    ...transitions.map((entry): ActivityItem => {
      return { kind: 'transition', key: entry.id, at: entry.created_at, entry, attempt: judgedBy(entry, reviews) }
    }),
    ...hookItems(transitions, facts.hooks, reviews, facts.workflow),
    ...executionItems(facts.executions),
    ...reviewItems(reviews, transitions),
    ...comments.map((comment): ActivityItem => {
      return { kind: 'comment', key: comment.id, at: comment.created_at, comment }
    }),
  ]
  return items.sort((a, b) => Date.parse(a.at) - Date.parse(b.at))
}

/** Returns started runs at the time they ended; running ones at the time they started. */
function executionItems(executions: readonly Execution[]): ActivityItem[] {
  const begun = executions
    .filter(({ started_at }) => started_at !== null)
    .sort((a, b) => (a.created_at < b.created_at ? -1 : 1))
  return begun.map((execution, index) => ({
    kind: 'execution',
    key: execution.id,
    at: execution.finished_at ?? execution.started_at ?? execution.created_at,
    execution,
    n: index + 1,
  }))
}

export interface ActivityDay {
  readonly day: string
  readonly items: readonly ActivityItem[]
}

/** Returns the entries by local day. `items` must be oldest first. */
export function activityDays(items: readonly ActivityItem[], newestFirst: boolean): ActivityDay[] {
  const inOrder = newestFirst ? items.toReversed() : items
  const days = Map.groupBy(inOrder, ({ at }) => localDay(new Date(at)))
  return [...days].map(([day, dayItems]) => ({ day, items: dayItems }))
}

function localDay(date: Date): string {
  const two = (n: number) => String(n).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

/** Returns `2026-11-21` as "Today", "Yesterday" or "19 Nov 2026". */
export function dayLabel(day: string, now: Date): string {
  if (day === localDay(now)) return 'Today'
  if (day === localDay(new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1))) return 'Yesterday'
  const date = new Date(`${day}T00:00:00`)
  return date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric' })
}
