import type { HookOutcome, TransitionEntry } from '../../../src-shared/contract/tasks.ts'
import type { WorkflowDefinition } from '../../../src-shared/contract/workflow-definition.ts'

/** One line of the timeline. Hooks that went well stay out of it; failed, skipped and blocking ones stand out. */
export type ActivityItem =
  | { readonly kind: 'transition'; readonly key: string; readonly at: string; readonly entry: TransitionEntry }
  | { readonly kind: 'hook'; readonly key: string; readonly at: string; readonly hook: HookOutcome }

export interface ActivityDay {
  readonly day: string
  readonly items: readonly ActivityItem[]
}

/** The timeline, by local day. `entries` oldest first. */
export function activityDays(entries: readonly TransitionEntry[], newestFirst: boolean): ActivityDay[] {
  const items = entries.flatMap((entry): ActivityItem[] => [
    { kind: 'transition', key: entry.id, at: entry.created_at, entry },
    ...entry.hooks
      .filter((hook) => hook.outcome !== 'ok')
      .map((hook, n): ActivityItem => ({ kind: 'hook', key: `${entry.id}-${n}`, at: entry.created_at, hook })),
  ])
  if (newestFirst) items.reverse()
  const days = new Map<string, ActivityItem[]>()
  for (const item of items) {
    const day = localDay(new Date(item.at))
    days.set(day, [...(days.get(day) ?? []), item])
  }
  return [...days].map(([day, dayItems]) => ({ day, items: dayItems }))
}

function localDay(date: Date): string {
  const two = (n: number) => String(n).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

/** `2026-11-21` as "Today", "Yesterday" or "19 Nov 2026". */
export function dayLabel(day: string, now: Date): string {
  if (day === localDay(now)) return 'Today'
  if (day === localDay(new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1))) return 'Yesterday'
  const date = new Date(`${day}T00:00:00`)
  return date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric' })
}

/** How long the task stood in each state, in the workflow's order. The last state counts up to `now`. */
export function timeInStates(
  entries: readonly TransitionEntry[],
  created_at: string,
  status: string,
  workflow: WorkflowDefinition,
  now: number,
): { state: string; ms: number }[] {
  const total = new Map<string, number>()
  let since = Date.parse(created_at)
  const add = (state: string, until: number) => {
    total.set(state, (total.get(state) ?? 0) + Math.max(0, until - since))
    since = until
  }
  for (const entry of entries) add(entry.from_state, Date.parse(entry.created_at))
  const current = workflow.states.find((state) => state.name === status)
  if (current?.kind !== 'terminal') add(status, now)
  return workflow.states.flatMap((state) => {
    const ms = total.get(state.name)
    return ms === undefined ? [] : [{ state: state.name, ms }]
  })
}
