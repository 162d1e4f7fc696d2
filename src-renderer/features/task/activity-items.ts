import type { HookRun } from '../../../src-shared/contract/lifecycle-hooks.ts'
import type { HookOutcome, TransitionEntry } from '../../../src-shared/contract/tasks.ts'
import type { WorkflowDefinition } from '../../../src-shared/contract/workflow-definition.ts'
import { skippedOnce } from '../../composables/hook-reason.ts'

/** One line of the timeline. Hooks that went well stay out of it; failed, skipped and blocking ones stand out. */
export type ActivityItem =
  | { readonly kind: 'transition'; readonly key: string; readonly at: string; readonly entry: TransitionEntry }
  | {
      readonly kind: 'hook'
      readonly key: string
      readonly at: string
      readonly hook: HookOutcome
      /** What its log says, where it has one. */
      readonly run: HookRun | null
    }

export interface ActivityDay {
  readonly day: string
  readonly items: readonly ActivityItem[]
}

/** The timeline, by local day. `entries` oldest first; `runs` of the task's hooks, also those that no entry names. */
export function activityDays(
  entries: readonly TransitionEntry[],
  runs: readonly HookRun[],
  newestFirst: boolean,
): ActivityDay[] {
  const items = activityItems(entries, runs)
  if (newestFirst) items.reverse()
  const days = new Map<string, ActivityItem[]>()
  for (const item of items) {
    const day = localDay(new Date(item.at))
    days.set(day, [...(days.get(day) ?? []), item])
  }
  return [...days].map(([day, dayItems]) => ({ day, items: dayItems }))
}

/** Oldest first: what a transition named, and the hooks that ran without one. */
export function activityItems(entries: readonly TransitionEntry[], runs: readonly HookRun[]): ActivityItem[] {
  const byLog = new Map(runs.map((run) => [run.log_name, run]))
  const named = new Set(entries.flatMap(({ hooks }) => hooks.flatMap(({ log_name }) => log_name ?? [])))
  const moves = entries.flatMap((entry): ActivityItem[] => [
    { kind: 'transition', key: entry.id, at: entry.created_at, entry },
    ...entry.hooks
      .filter((hook) => hook.outcome !== 'ok')
      .map((hook, n): ActivityItem => {
        const run = byLog.get(hook.log_name ?? '') ?? null
        const skip = skippedOnce(hook.reason ?? '')
        const at = skip?.at ?? run?.started_at ?? entry.created_at
        return { kind: 'hook', key: `${entry.id}-${n}`, at, hook, run }
      }),
  ])
  const alone = runs.flatMap((run): ActivityItem[] => {
    const hook = named.has(run.log_name) ? null : troubleOf(run)
    return hook ? [{ kind: 'hook', key: run.log_name, at: run.started_at, hook, run }] : []
  })
  return [...moves, ...alone].sort((a, b) => Date.parse(a.at) - Date.parse(b.at))
}

/** What the timeline says of a run that did not go well; null when it did, or still goes. */
function troubleOf(run: HookRun): HookOutcome | null {
  if (run.status === 'succeeded' || run.status === 'running') return null
  const { event: phase, plugin: action = 'script', reason, duration_ms, log_name } = run
  const outcome = run.status === 'skipped' ? 'skipped' : 'failed'
  return { phase, action, outcome, duration_ms: duration_ms ?? 0, log_name, ...(reason !== null && { reason }) }
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
