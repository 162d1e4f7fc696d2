import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { HookOutcome } from '../../src-shared/contract/tasks.ts'
import type { HookPhase } from '../../src-shared/contract/workflow-definition.ts'
import { audienceMatches } from '../domain/transition/audience.ts'
import { checkSeen } from '../domain/review/judged-work.ts'
import { isRefusal } from '../domain/refusal.ts'
import type { TransitionPlan, TransitionRequest } from '../domain/transition/plan-transition.ts'
import { hooksAt } from '../domain/workflow/graph.ts'
import { runStateHook } from '../steps/perform-step.ts'
import type { StepServices } from '../steps/step-services.ts'
import type { PluginResult } from '../core/plugin-result.ts'
import type { Work } from '../ports/work-keeper.ts'
import { lookAtWork } from '../workspaces/look-at-work.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { workspaceOf } from '../core/workspace-of.ts'

/** The results of the checks before a move. */
export interface MoveChecks {
  /** The results of the source's hooks, for the move's timeline entry. */
  readonly hooks: readonly HookOutcome[]
  /** The work that the move will merge, committed. */
  readonly work: Work | null
}

/** What the caller of a move states about the work. */
export interface SeenWork {
  /** The tree that the caller looked at; the move is refused if the work has another tree by now. */
  readonly seen: string | null
  /**
   * The tree that the caller vouches for, so that it counts as judged: by a verdict, or as a person who has seen it.
   */
  readonly vouched: string | null
  /** The caller lands on a base whose checks fail. */
  readonly on_red?: boolean
}

/** Returns whether a move has slow checks: hooks or guards. */
export function hasAsyncGuards(
  deps: Pick<StepServices, 'plugins'>,
  plan: TransitionPlan,
  triggered_by: string,
): boolean {
  return targetGuards(deps, plan, triggered_by).length > 0 || hooksAt(plan.from, 'before_exit').length > 0
}

/** Returns the guards of the plugins in the target's hooks, without the hooks that this transition would skip. */
function targetGuards({ plugins }: Pick<StepServices, 'plugins'>, { to }: TransitionPlan, triggered_by: string) {
  const runs = (name: string, phase: HookPhase) =>
    hooksAt(to, phase).some((hook) => hook.plugin === name && audienceMatches(hook.applies_to, triggered_by))
  return [...plugins.values()]
    .filter(({ name, phases }) => phases.some((phase) => runs(name, phase)))
    .flatMap((plugin) => plugin.guard ?? [])
}

/**
 * Runs all slow checks that can refuse a move, before anything is written: the rules, then the guards of the target's
 * plugins and the source's `before_exit` hooks. The rules are checked again at the commit.
 */
export async function runMoveGuards(
  deps: StepServices,
  task: TaskRecord,
  request: TransitionRequest,
  signal: AbortSignal,
  seenWork?: SeenWork,
): Promise<MoveChecks | Refusal> {
  const plan = deps.transitions.plan(deps.context.store.read, task, request)
  return isRefusal(plan)
    ? plan
    : await runPlanGuards(deps, task, { plan, triggered_by: request.triggered_by }, signal, seenWork)
}

/** Like `runMoveGuards`, for a move that the rules have already allowed. */
export async function runPlanGuards(
  deps: StepServices,
  task: TaskRecord,
  { plan, triggered_by }: { readonly plan: TransitionPlan; readonly triggered_by: string },
  signal: AbortSignal,
  { seen, vouched, on_red = false }: SeenWork = { seen: null, vouched: null },
): Promise<MoveChecks | Refusal> {
  const { read } = deps.context.store
  const changed = seen === null ? null : checkSeen(await lookAtWork(deps, task, { seen }, signal))
  if (changed) return changed
  let work: Work | null = null
  for (const guard of targetGuards(deps, plan, triggered_by)) {
    const project = read.projects.get(task.project_id)
    if (!project) return { code: 'not_found', message: 'The project is gone.', details: { resource: 'project' } }
    const found = await guard({
      task,
      project,
      workflow: plan.workflow,
      state: plan.to,
      triggered_by,
      workspace: workspaceOf(read, task),
      vouched,
      on_red,
      signal,
    })
    if (found && isRefusal(found)) return found
    work = found?.work ?? work
  }
  const hooks = await askHooks(deps, task, plan, triggered_by, signal)
  return isRefusal(hooks) ? hooks : { hooks, work }
}

async function askHooks(
  deps: StepServices,
  task: TaskRecord,
  plan: TransitionPlan,
  triggered_by: string,
  signal: AbortSignal,
): Promise<readonly HookOutcome[] | Refusal> {
  const { clock, newId } = deps.context
  const outcomes: HookOutcome[] = []
  for (const hook of hooksAt(plan.from, 'before_exit')) {
    const began = clock.now()
    const move = { from: plan.from.name, to: plan.to.name, triggered_by }
    const result = await runStateHook(
      deps,
      task,
      move,
      { kind: 'hook', phase: 'before_exit', hook },
      { signal, processMarker: newId },
    )
    const action = hook.plugin ?? 'script'
    if (result.kind === 'failed') {
      return {
        code: 'transition_blocked',
        message: `A hook blocked leaving ${plan.from.label}: ${result.reason}`,
        details: { hook: action, reason: result.reason, ...result.script },
      }
    }
    outcomes.push({ phase: 'before_exit', action, ...outcomeFields(result), duration_ms: clock.now() - began })
  }
  return outcomes
}

function outcomeFields(result: PluginResult): Pick<HookOutcome, 'outcome' | 'reason'> {
  return result.kind === 'skipped' ? { outcome: 'skipped', reason: result.reason } : { outcome: 'ok' }
}
