import type { StateTrait, WorkflowDefinition, WorkflowState } from '../../src-shared/contract/workflow-definition.ts'

/** The glyphs that a state can have; `StateGlyph` draws them. */
export type StateGlyphName =
  | 'backlog'
  | 'initial'
  | 'active'
  | 'gate'
  | 'custom'
  | 'merging'
  | 'merge-failed'
  | 'blocked'
  | 'terminal'
  | 'cancelled'

/** One column of a board: the states that share it, in declaration order. */
export interface ColumnShape {
  readonly name: string
  readonly glyph: StateGlyphName
  readonly states: readonly WorkflowState[]
  /** Whether all its states are terminal; its cards are then muted. */
  readonly terminal: boolean
}

/** Returns the columns in the order in which the workflow first names them. */
export function columnsOf(workflow: WorkflowDefinition): ColumnShape[] {
  const byName = new Map<string, WorkflowState[]>()
  for (const state of workflow.states) byName.set(state.column, [...(byName.get(state.column) ?? []), state])
  return [...byName].map(([name, states]) => ({
    name,
    states,
    glyph: states[0] ? glyphOfState(workflow, states[0]) : 'custom',
    terminal: states.every((state) => state.kind === 'terminal'),
  }))
}

/** A column of a board that may show several projects. */
export interface BoardColumnShape extends ColumnShape {
  /** The column's states of each project, in that project's order. Projects without the column are absent. */
  readonly statesIn: ReadonlyMap<string, readonly WorkflowState[]>
}

/** Merges the columns of all projects by name. A column that only some have follows its predecessor there. */
export function boardColumns(workflows: ReadonlyMap<string, WorkflowDefinition>): BoardColumnShape[] {
  const merged: BoardColumnShape[] = []
  for (const [projectId, workflow] of workflows) {
    let behind = -1
    for (const column of columnsOf(workflow)) {
      const at = merged.findIndex(({ name }) => name === column.name)
      const known = merged[at]
      const next: BoardColumnShape = {
        ...(known ?? column),
        states: [...(known?.states ?? []), ...column.states],
        terminal: column.terminal && (known?.terminal ?? true),
        statesIn: new Map([...(known?.statesIn ?? []), [projectId, column.states]]),
      }
      if (known) merged[at] = next
      else merged.splice(behind + 1, 0, next)
      behind = known ? at : behind + 1
    }
  }
  return merged
}

/** Returns the column with one project's states. */
export function columnIn(column: BoardColumnShape, projectId: string): ColumnShape {
  return { ...column, states: column.statesIn.get(projectId) ?? [] }
}

/** Returns whether a state is terminal, but not the one for cancelled tasks. */
export function isDoneState(workflow: WorkflowDefinition | undefined, name: string): boolean {
  return workflow !== undefined && stateOf(workflow, name)?.kind === 'terminal' && name !== cancellationState(workflow)
}

export function stateOf(workflow: WorkflowDefinition | undefined, name: string): WorkflowState | undefined {
  return workflow?.states.find((state) => state.name === name)
}

/** Returns a state's label and glyph. An unknown state is shown by its name. */
export function stateFace(
  workflow: WorkflowDefinition | undefined,
  name: string,
): { readonly label: string; readonly glyph: StateGlyphName } {
  const state = stateOf(workflow, name)
  return workflow && state
    ? { label: state.label, glyph: glyphOfState(workflow, state) }
    : { label: name, glyph: 'custom' }
}

/** Returns the role of the worker: that of the first active state after the initial one. */
export function coderRole(workflow: WorkflowDefinition): string | null {
  const seen = new Set<string>()
  let state = workflow.states.find((each) => each.kind === 'initial')
  while (state && !seen.has(state.name)) {
    if (state.kind === 'active') return state.role ?? 'assignee'
    seen.add(state.name)
    state = stateOf(workflow, state.transitions[0]?.to ?? '')
  }
  return null
}

/** Returns the glyph of a state's kind. Traits of its hooks tell custom kinds apart, never its name. */
export function glyphOfState(workflow: WorkflowDefinition, state: WorkflowState): StateGlyphName {
  if (state.kind === 'terminal') return state.name === cancellationState(workflow) ? 'cancelled' : 'terminal'
  if (state.kind !== 'custom') return state.kind
  if (hasTrait(workflow, state, 'merges')) return 'merging'
  if (hasTrait(workflow, state, 'takes_blocked')) return 'blocked'
  return isMergeFailure(workflow, state) ? 'merge-failed' : 'custom'
}

/** Returns the state for cancelled tasks; null without one. */
export function cancellationState(workflow: WorkflowDefinition): string | null {
  if (workflow.cancellation_state) return workflow.cancellation_state
  const implicit = workflow.states.find((state) => state.name === 'cancelled' && state.kind === 'terminal')
  return implicit?.name ?? null
}

/** Returns whether a plugin in the state's hooks gives it the trait. */
export function hasTrait(
  workflow: Pick<WorkflowDefinition, 'traits'> | undefined,
  state: Pick<WorkflowState, 'name'>,
  trait: StateTrait,
): boolean {
  return workflow?.traits?.states[state.name]?.includes(trait) ?? false
}

/** Returns whether this plugin gives states the trait. */
export function pluginHas(workflow: WorkflowDefinition | undefined, plugin: string, trait: StateTrait): boolean {
  return workflow?.traits?.plugins[plugin]?.includes(trait) ?? false
}

function isMergeFailure(workflow: WorkflowDefinition, state: WorkflowState): boolean {
  const hooks = workflow.states.flatMap(({ hooks = {} }) => Object.values(hooks).flat())
  const merges = hooks.filter(({ plugin = '' }) => pluginHas(workflow, plugin, 'merges'))
  return merges.some((hook) => typeof hook.on_failure === 'object' && hook.on_failure.cascade === state.name)
}

/** Returns the roles that get a prompt, first that of the task's state, else that of the first active state. */
export function promptRoles(workflow: WorkflowDefinition | undefined, status: string): readonly string[] {
  const states = workflow?.states ?? []
  const currentRole = states.find(({ name }) => name === status)?.role
  const names = states.flatMap(({ role, kind }) => role ?? (kind === 'active' ? 'assignee' : []))
  const working = states.find(({ kind }) => kind === 'active')
  const first = currentRole ?? working?.role ?? 'assignee'
  return [...new Set([...names.filter((name) => name === first), ...names])]
}
