import type { HookRun } from '../../../src-shared/contract/lifecycle-hooks.ts'
import type { Review } from '../../../src-shared/contract/reviews.ts'
import type { HookOutcome, TransitionEntry } from '../../../src-shared/contract/tasks.ts'
import type { WorkflowDefinition } from '../../../src-shared/contract/workflow-definition.ts'
import { pluginHas } from '../../model/workflow-shape.ts'
import { skippedOnce } from '../../formatters/hook-reason.ts'
import type { ActivityItem } from './activity-item.ts'
import { failedStep } from './review-items.ts'

/** Failed hooks and updates of the branch, named by a transition or not. */
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

/** What went well is no news, but for what somebody did to the branch. */
const isNews = ({ outcome, action }: HookOutcome): boolean =>
  outcome !== 'ok' || action === 'update_branch' || action === 'repository_changed'

/** CI that says no has done its work: the attempt tells which step it was. */
function isToldByAttempt(hook: HookOutcome, entry: TransitionEntry, reviews: readonly Review[]): boolean {
  if (hook.outcome !== 'failed') return false
  const opened = reviews
    .filter(({ created_at }) => created_at >= entry.created_at)
    .sort((a, b) => a.attempt_number - b.attempt_number)[0]
  return opened !== undefined && failedStep(opened) !== null
}

/** What the timeline says of a run that did not go well; null when it did, or still goes. */
function troubleOf(run: HookRun): HookOutcome | null {
  if (run.status === 'succeeded' || run.status === 'running') return null
  const { event: phase, plugin: action = 'script', reason, duration_ms, log_name } = run
  const outcome = run.status === 'skipped' ? 'skipped' : 'failed'
  return { phase, action, outcome, duration_ms: duration_ms ?? 0, log_name, ...(reason !== null && { reason }) }
}
