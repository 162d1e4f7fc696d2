import type { LifecycleHooks } from '../../../src-shared/contract/lifecycle-hooks.ts'
import type { WorkflowState } from '../../../src-shared/contract/workflow-definition.ts'
import { enabledHooks } from './pending-hooks.ts'
import type { Step } from './phases.ts'

/** Whatever began with the work ends when it stops, also where no hook is for that. */
const ofWork = ['before_work', 'on_work_start', 'on_work_stop'] as const

/**
 * The steps of a transition with those that the project's lifecycle hooks add to it; null when they add none.
 * Work that stops is tidied up before anything looks at it, and the hooks before work come once there is a
 * worktree for them.
 */
export function lifecycleSteps(
  steps: readonly Step[],
  { from, to }: { readonly from: WorkflowState; readonly to: WorkflowState },
  hooks: LifecycleHooks,
): readonly Step[] | null {
  const stops = from.kind === 'active' && to.kind !== 'terminal' && ofWork.some((event) => hooks[event]?.length)
  const before = to.kind === 'active' ? enabledHooks(hooks, 'before_work') : []
  if (!stops && before.length === 0) return null
  const left = steps.findIndex((step) => step.kind !== 'hook' || step.phase !== 'on_exit')
  const cut = left === -1 ? steps.length : left
  const entering = steps.slice(cut)
  const made = entering.findIndex((step) => step.kind === 'workspace') + 1
  const added: Step[] = before.map((placed) => ({ kind: 'before_work', ...placed }))
  if (added.length > 0) added.push({ kind: 'check_before_work' })
  return [
    ...steps.slice(0, cut),
    ...(stops ? [{ kind: 'await_work_stop' } as const] : []),
    ...entering.slice(0, made),
    ...added,
    ...entering.slice(made),
  ]
}
