import type { HookRun } from '../../../src-shared/contract/lifecycle-hooks.ts'
import type { Review } from '../../../src-shared/contract/reviews.ts'
import type { HookOutcome, TransitionEntry } from '../../../src-shared/contract/tasks.ts'
import type { WorkflowDefinition } from '../../../src-shared/contract/workflow-definition.ts'
import { pluginHas } from '../../model/workflow-shape.ts'
import { skippedOnce } from '../../formatters/hook-reason.ts'
import type { ActivityItem } from './activity-item.ts'
import { failedStep } from './review-items.ts'

/** Returns entries for failed hooks and branch updates, with or without a transition. */
export function hookItems(
  transitions: readonly TransitionEntry[],
  runs: readonly HookRun[],
  reviews: readonly Review[],
  workflow: WorkflowDefinition | undefined,
): ActivityItem[] {
  const byLog = new Map(runs.map((run) => [run.log_name, run]))
  const named = new Set(transitions.flatMap(({ hooks }) => hooks.flatMap(({ log_name }) => log_name ?? [])))
  const inMoves = transitions.flatMap((entry) =>
    entry.hooks
      .filter(
        (hook) =>
          isNews(hook) && !(pluginHas(workflow, hook.action, 'makes_gate') && isToldByAttempt(hook, entry, reviews)),
      )
      .map((hook, n): ActivityItem => {
        const run = byLog.get(hook.log_name ?? '') ?? null
        const at = skippedOnce(hook.reason ?? '')?.at ?? run?.started_at ?? entry.created_at
        return { kind: 'hook', key: `${entry.id}-${n}`, at, hook, run }
      }),
  )
  const alone = runs.flatMap((run): ActivityItem[] => {
    const hook = named.has(run.log_name) ? null : troubleOf(run)
    return hook ? [{ kind: 'hook', key: run.log_name, at: run.started_at, hook, run }] : []
  })
  return [...inMoves, ...alone]
}

/** Returns whether the entry is shown: a failure, or a change of the branch by a person or agent. */
const isNews = ({ outcome, action }: HookOutcome): boolean =>
  outcome !== 'ok' || action === 'update_branch' || action === 'repository_changed'

/** Returns whether the attempt already shows the failed CI step. */
function isToldByAttempt(hook: HookOutcome, entry: TransitionEntry, reviews: readonly Review[]): boolean {
  if (hook.outcome !== 'failed') return false
  const opened = reviews
    .filter(({ created_at }) => created_at >= entry.created_at)
    .sort((a, b) => a.attempt_number - b.attempt_number)[0]
  return opened !== undefined && failedStep(opened) !== null
}

/** Returns the outcome of an unsuccessful run; null if it succeeded or still runs. */
function troubleOf(run: HookRun): HookOutcome | null {
  if (run.status === 'succeeded' || run.status === 'running') return null
  const { event: phase, plugin: action = 'script', reason, duration_ms, log_name } = run
  const outcome = run.status === 'skipped' ? 'skipped' : 'failed'
  return { phase, action, outcome, duration_ms: duration_ms ?? 0, log_name, ...(reason !== null && { reason }) }
}
