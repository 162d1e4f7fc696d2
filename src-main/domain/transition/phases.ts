import type { StateHook } from '../../../src-shared/contract/workflow-definition.ts'
import type { IndexedHook } from './pending-hooks.ts'
import { hasTrait, hooksAt, roleOf, type Workflow } from '../workflow/graph.ts'

/** One step before a deferred transition, or after a committed one. */
export type Step =
  | {
      readonly kind: 'hook'
      readonly phase: 'before_exit' | 'on_exit' | 'before_enter' | 'on_enter' | 'after_enter'
      readonly hook: StateHook
    }
  /** Creates or reuses the worktree. */
  | { readonly kind: 'workspace' }
  /** Waits until the project's on_work_stop hooks have run. */
  | { readonly kind: 'await_work_stop' }
  /** Runs one of the project's hooks before work; one that does not block is only started. */
  | ({ readonly kind: 'before_work' } & IndexedHook)
  /** Blocks the task if a blocking hook before work failed. */
  | { readonly kind: 'check_before_work' }
  | { readonly kind: 'clear_barrier' }
  /** Moves the task once the source's hooks have allowed it. */
  | { readonly kind: 'move' }
  /** Starts a run for the holder of the state's role, if no plugin of the state does. */
  | { readonly kind: 'dispatch' }
  /** Removes the worktree, at once or later, by the state's policy. */
  | { readonly kind: 'cleanup' }

/**
 * Returns the steps that follow the commit of `from` → `to`, in the order of the specification: source.on_exit,
 * target.before_enter, barrier cleared, target.on_enter, target.after_enter. Depends only on the definition, so that a
 * cursor into it survives a restart.
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
  // Skip the barrier when no step precedes it.
  if (steps.length > 0) steps.push({ kind: 'clear_barrier' })
  if (works && target.kind === 'active' && !dispatches) steps.push({ kind: 'dispatch' })
  for (const hook of hooksAt(target, 'on_enter')) steps.push({ kind: 'hook', phase: 'on_enter', hook })
  for (const hook of hooksAt(target, 'after_enter')) steps.push({ kind: 'hook', phase: 'after_enter', hook })
  // The state's own hooks decide about the worktree.
  if (hasTrait(workflow, target, 'owns_cleanup')) return steps
  if (target.kind === 'terminal' || target.cleanup) steps.push({ kind: 'cleanup' })
  return steps
}

/** Returns the steps before a deferred transition out of `from`: the hooks that may refuse it, then the move. */
export function stepsBefore(workflow: Workflow, from: string): readonly Step[] {
  const source = workflow.states.get(from)
  const hooks = source ? hooksAt(source, 'before_exit') : []
  return [...hooks.map((hook): Step => ({ kind: 'hook', phase: 'before_exit', hook })), { kind: 'move' }]
}

/** Returns whether the target has an entry barrier while its first steps run. */
export function hasBarrier(steps: readonly Step[]): boolean {
  return steps.some((step) => step.kind === 'clear_barrier')
}
