import type { StateHook } from '../../../src-shared/contract/workflow-definition.ts'
import type { IndexedHook } from './pending-hooks.ts'
import { hasTrait, hooksAt, roleOf, type Workflow } from '../workflow/graph.ts'

/** One thing to do before a transition that nobody waits for, or after one is committed. */
export type Step =
  | {
      readonly kind: 'hook'
      readonly phase: 'before_exit' | 'on_exit' | 'before_enter' | 'on_enter' | 'after_enter'
      readonly hook: StateHook
    }
  /** The worktree is made, or found again. */
  | { readonly kind: 'workspace' }
  /** The project's hooks for the work that has stopped are behind it. */
  | { readonly kind: 'await_work_stop' }
  /** One of the project's hooks before work; one that does not block is only begun. */
  | ({ readonly kind: 'before_work' } & IndexedHook)
  /** Whoever works may begin only when every blocking hook before work has succeeded. */
  | { readonly kind: 'check_before_work' }
  | { readonly kind: 'clear_barrier' }
  /** The source's hooks have allowed it: the task moves. */
  | { readonly kind: 'move' }
  /** Whoever has the state's role starts, where no plugin says so itself. */
  | { readonly kind: 'dispatch' }
  /** The worktree goes, at once or later, as the state's policy says. */
  | { readonly kind: 'cleanup' }

/**
 * The steps that follow the commit of `from` → `to`, in the order of the specification:
 * source.on_exit, target.before_enter, barrier cleared, target.on_enter, target.after_enter.
 * A pure function of the definition, so that a cursor into it survives a restart.
 */
export function stepsOf(workflow: Workflow, from: string, to: string): readonly Step[] {
  const source = workflow.states.get(from)
  const target = workflow.states.get(to)
  const steps: Step[] = []
  for (const hook of source ? hooksAt(source, 'on_exit') : []) steps.push({ kind: 'hook', phase: 'on_exit', hook })
  if (!target) return steps
  const works = target.kind === 'active' || (roleOf(target) !== null && target.kind !== 'terminal')
  const dispatches = hasTrait(workflow, target, 'dispatches')
  if (target.kind === 'active' || hasTrait(workflow, target, 'needs_worktree')) {
    steps.push({ kind: 'workspace' })
  }
  for (const hook of hooksAt(target, 'before_enter')) steps.push({ kind: 'hook', phase: 'before_enter', hook })
  // Nobody sees a barrier that nothing stands behind.
  if (steps.length > 0) steps.push({ kind: 'clear_barrier' })
  if (works && target.kind === 'active' && !dispatches) steps.push({ kind: 'dispatch' })
  for (const hook of hooksAt(target, 'on_enter')) steps.push({ kind: 'hook', phase: 'on_enter', hook })
  for (const hook of hooksAt(target, 'after_enter')) steps.push({ kind: 'hook', phase: 'after_enter', hook })
  // Its hooks say what becomes of the worktree, so nothing else does.
  if (hasTrait(workflow, target, 'owns_cleanup')) return steps
  if (target.kind === 'terminal' || target.cleanup) steps.push({ kind: 'cleanup' })
  return steps
}

/** What stands before a transition out of `from`: the hooks that may say no, then the move. */
export function stepsBefore(workflow: Workflow, from: string): readonly Step[] {
  const source = workflow.states.get(from)
  const hooks = source ? hooksAt(source, 'before_exit') : []
  return [...hooks.map((hook): Step => ({ kind: 'hook', phase: 'before_exit', hook })), { kind: 'move' }]
}

/** Whether the target stands behind an entry barrier while its first steps run. */
export function hasBarrier(steps: readonly Step[]): boolean {
  return steps.some((step) => step.kind === 'clear_barrier')
}
