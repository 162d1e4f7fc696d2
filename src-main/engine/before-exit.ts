import type { Refusal } from '../../src-shared/contract/errors.ts'
import { audienceMatches } from '../domain/transition/audience.ts'
import { isRefusal, type TransitionPlan, type TransitionRequest } from '../domain/transition/plan-transition.ts'
import { hooksAt } from '../domain/workflow/graph.ts'
import type { StepDeps } from './perform-step.ts'
import { runStateScript } from './state-script.ts'
import type { TaskRecord } from './store-port.ts'

/** Whether anything slow has a say in this move. */
export function hasSlowChecks(deps: Pick<StepDeps, 'plugins'>, plan: TransitionPlan): boolean {
  return guardsOf(deps, plan).length > 0 || hooksAt(plan.from, 'before_exit').some((hook) => hook.script !== undefined)
}

/** The guards of the plugins that the target names. */
function guardsOf({ plugins }: Pick<StepDeps, 'plugins'>, { to }: TransitionPlan) {
  const hooks = Object.values(to.hooks ?? {}).flat()
  return hooks.flatMap((hook) => plugins.get(hook.plugin ?? '')?.guard ?? [])
}

/**
 * Everything slow that can still say no, before anything is written: the rules once, the guards of
 * the target's plugins, and the source's `before_exit` hooks. The rules are asked again at the commit.
 */
export async function checkBeforeExit(
  deps: StepDeps,
  task: TaskRecord,
  request: TransitionRequest,
  signal: AbortSignal,
): Promise<Refusal | null> {
  const { read } = deps.context.store
  const plan = deps.transitions.plan(read, task, request)
  if (isRefusal(plan)) return plan
  for (const guard of guardsOf(deps, plan)) {
    const project = read.projects.get(task.project_id)
    if (!project) return { code: 'not_found', message: 'The project is gone.', details: { resource: 'project' } }
    const refusal = await guard({
      task,
      project,
      workflow: deps.transitions.workflowOf(read, task),
      state: plan.to,
      triggered_by: request.triggered_by,
      workspace: read.workspaces.byTask(task.id),
      signal,
    })
    if (refusal) return refusal
  }
  for (const hook of hooksAt(plan.from, 'before_exit')) {
    if (hook.script === undefined || !audienceMatches(hook.applies_to, request.triggered_by)) continue
    const result = await runStateScript(
      deps,
      task,
      { ...hook, script: hook.script },
      'before_exit',
      plan.from.name,
      signal,
    )
    if (result.kind === 'failed') {
      return {
        code: 'transition_blocked',
        message: `The check before leaving ${plan.from.label} said no: ${result.reason}`,
        details: { hook: 'script', reason: result.reason },
      }
    }
  }
  return null
}
