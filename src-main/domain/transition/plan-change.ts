import type { TaskId } from '../../../src-shared/contract/ids.ts'
import type { StateHook, WorkflowDefinition, WorkflowState } from '../../../src-shared/contract/workflow-definition.ts'
import type { Effect } from './effects.ts'
import { stepsBefore, stepsOf, type Step } from './phases.ts'
import { indexWorkflow, type Workflow } from '../workflow/graph.ts'
import { targetsOf, type WorkflowIssue } from '../workflow/validate.ts'

/** A pending effect: the steps that a task must still do after, or before, a transition. */
export interface PendingEffect {
  readonly id: number
  readonly task_id: TaskId
  readonly data: Effect
}

export interface ChangeFacts {
  readonly old: Workflow
  /** A valid definition, with `renamed_from`. */
  readonly next: WorkflowDefinition
  /** The states of tasks that are not archived. */
  readonly occupied: ReadonlySet<string>
  readonly pending: readonly PendingEffect[]
}

export interface ChangePlan {
  readonly kind: 'change'
  /** The definition to store: without `renamed_from`. */
  readonly definition: WorkflowDefinition
  /** Old name → new name of the renamed states. */
  readonly names: ReadonlyMap<string, string>
  /** The same for archived tasks whose state is gone while its name was reused: they start over. */
  readonly strayed: ReadonlyMap<string, string>
  /** The pending effects, each with the steps that it started with, under the new names. */
  readonly pending: readonly PendingEffect[]
}

export type ChangeRefusal =
  | { readonly kind: 'invalid'; readonly issues: readonly [WorkflowIssue, ...WorkflowIssue[]] }
  | { readonly kind: 'states_in_use'; readonly states: readonly string[] }
  | { readonly kind: 'transition_in_use'; readonly used: readonly PendingEffect[] }

/** Decides whether a workflow can be changed while tasks are in its states, and what to change with it. */
export function planChange(facts: ChangeFacts): ChangePlan | ChangeRefusal {
  const { old } = facts
  const [issue, ...issues] = checkRenames(facts)
  if (issue) return { kind: 'invalid', issues: [issue, ...issues] }
  const definition = withoutRenames(facts.next)
  const newName = renamer(facts.next)
  const gone = [...facts.occupied].filter((state) => newName(state) === null)
  if (gone.length > 0) return { kind: 'states_in_use', states: gone }
  const next = indexWorkflow(definition, old.plugins)
  const frozen = facts.pending.map((effect) => ({ effect, steps: stepsNow(old, effect.data) }))
  const used = frozen.filter(({ effect, steps }) => isCut({ old, next, newName: newName }, effect.data, steps))
  if (used.length > 0) return { kind: 'transition_in_use', used: used.map(({ effect }) => effect) }
  const known = [...old.states.keys()]
  return {
    kind: 'change',
    definition,
    names: new Map(known.flatMap((name) => renamed(name, newName(name)))),
    strayed: new Map(
      known.filter((name) => newName(name) === null && next.states.has(name)).map((name) => [name, next.entry.name]),
    ),
    pending: frozen.map(({ effect, steps }) => ({ ...effect, data: carryOver(effect.data, steps, newName) })),
  }
}

type Renamer = (state: string) => string | null

/**
 * Returns the new name of an old state, or null when it is gone. A state whose name another took over is gone, too.
 */
function renamer(next: WorkflowDefinition): Renamer {
  const moved = new Map(next.states.flatMap((state) => (state.renamed_from ? [[state.renamed_from, state.name]] : [])))
  const keptNames = new Set(next.states.filter((state) => state.renamed_from === undefined).map((state) => state.name))
  return (name) => moved.get(name) ?? (keptNames.has(name) ? name : null)
}

function renamed(name: string, to: string | null): [string, string][] {
  return to === null || to === name ? [] : [[name, to]]
}

function checkRenames({ old, next }: ChangeFacts): readonly WorkflowIssue[] {
  const takers = new Map<string, string>()
  return next.states.flatMap(({ name, renamed_from }, index): WorkflowIssue[] => {
    if (renamed_from === undefined) return []
    const path = `states.${index}.renamed_from`
    const other = takers.get(renamed_from)
    takers.set(renamed_from, name)
    if (other !== undefined) {
      const message = `${other} and ${name} are both renamed from ${renamed_from}. Only one of them can take its tasks.`
      return [{ rule: 'schema', path, message }]
    }
    if (old.states.has(renamed_from)) return []
    const message = `${name} is renamed from ${renamed_from}, which the current workflow doesn't have. It has: ${[...old.states.keys()].slice(0, 50).join(', ')}.`
    return [{ rule: 'schema', path, message }]
  })
}

/** Removes `renamed_from`: a rename applies only once. */
export function withoutRenames(definition: WorkflowDefinition): WorkflowDefinition {
  return { ...definition, states: definition.states.map(({ renamed_from: _done, ...state }): WorkflowState => state) }
}

function stepsNow(old: Workflow, data: Effect): readonly Step[] {
  if (data.steps) return data.steps
  return data.kind === 'leave' ? stepsBefore(old, data.from) : stepsOf(old, data.from, data.to)
}

/**
 * Returns whether a pending effect needs something that the new workflow no longer has: its transition, the state it
 * enters, or a state that one of its remaining steps leads to.
 */
function isCut(
  { old, next, newName }: { readonly old: Workflow; readonly next: Workflow; readonly newName: Renamer },
  data: Effect,
  steps: readonly Step[],
): boolean {
  const to = newName(data.to)
  if (to === null) return true
  const from = newName(data.from)
  const before = old.states.get(data.from)
  // Claims and cancellations need no declared transition, so none of theirs can be removed.
  if (before && targetsOf(before).includes(data.to)) {
    const after = from === null ? undefined : next.states.get(from)
    if (!after || !targetsOf(after).includes(to)) return true
  }
  return steps.slice(data.cursor).some((step) => cascadesOf(step).some((target) => newName(target) === null))
}

function cascadesOf(step: Step): readonly string[] {
  if (step.kind !== 'hook') return []
  const { on_success, on_failure } = step.hook
  return [...(on_success ? [on_success.cascade] : []), ...(typeof on_failure === 'object' ? [on_failure.cascade] : [])]
}

/** Keeps the steps, because the cursor counts them. */
function carryOver(data: Effect, steps: readonly Step[], newName: Renamer): Effect {
  const name = (state: string) => newName(state) ?? state
  return {
    ...data,
    from: name(data.from),
    to: name(data.to),
    steps: steps.map((step) => (step.kind === 'hook' ? { ...step, hook: renameCascades(step.hook, name) } : step)),
  }
}

function renameCascades(hook: StateHook, name: (state: string) => string): StateHook {
  return {
    ...hook,
    ...(hook.on_success && { on_success: { cascade: name(hook.on_success.cascade) } }),
    ...(typeof hook.on_failure === 'object' && { on_failure: { cascade: name(hook.on_failure.cascade) } }),
  }
}
