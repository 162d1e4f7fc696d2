import type {
  HookPhase,
  StateHook,
  StateTrait,
  WorkflowDefinition,
  WorkflowState,
  WorkflowTraits,
} from '../../../src-shared/contract/workflow-definition.ts'

/** By plugin: what it means for a state, and the phases where it runs; at others a hook of it does nothing. */
export type PluginTraits = ReadonlyMap<
  string,
  { readonly phases: readonly HookPhase[]; readonly traits: readonly StateTrait[] }
>

/** A definition with its look-ups made; every rule of the engine asks this and no state's name. */
export interface Workflow {
  readonly definition: WorkflowDefinition
  readonly states: ReadonlyMap<string, WorkflowState>
  /** By state: what the plugins in its hooks make of it. */
  readonly traits: ReadonlyMap<string, ReadonlySet<StateTrait>>
  readonly plugins: PluginTraits
  /** Where new tasks start. */
  readonly entry: WorkflowState
  /** The state of kind `initial`: queued, waiting for a claim. */
  readonly queue: WorkflowState
  readonly cancellation: WorkflowState | null
  /** Takes tasks that need a person; null when the workflow has none. */
  readonly blocked: WorkflowState | null
}

/** Indexes a definition that `validateWorkflow` accepted; throws on one that has no state of kind `initial`. */
export function indexWorkflow(definition: WorkflowDefinition, plugins: PluginTraits): Workflow {
  const states = new Map(definition.states.map((state) => [state.name, state]))
  const queue = definition.states.find((state) => state.kind === 'initial')
  if (!queue) throw new Error('The workflow has no state of kind initial.')
  const traits = new Map(definition.states.map((state) => [state.name, traitsOf(state, plugins)]))
  const named = definition.cancellation_state ?? 'cancelled'
  const cancellation = states.get(named)
  return {
    definition,
    states,
    traits,
    plugins,
    queue,
    entry: states.get(definition.initial_state ?? queue.name) ?? queue,
    cancellation: cancellation?.kind === 'terminal' ? cancellation : null,
    blocked: definition.states.find((state) => traits.get(state.name)?.has('takes_blocked')) ?? null,
  }
}

/** The forward transition of a state is the first that it declares. */
export function forwardOf(workflow: Workflow, state: WorkflowState): WorkflowState | null {
  const first = state.transitions[0]
  return first ? (workflow.states.get(first.to) ?? null) : null
}

/** The role that works in a state: active states default to `assignee`. */
export function roleOf(state: WorkflowState): string | null {
  return state.role ?? (state.kind === 'active' ? 'assignee' : null)
}

/** Where a hook that succeeds leads to; the plugin that only leads on goes straight on where nothing else is said. */
export function cascadeOnSuccess(
  workflow: Pick<Workflow, 'plugins'>,
  state: WorkflowState,
  hook: StateHook,
): string | undefined {
  if (hook.on_success) return hook.on_success.cascade
  return hookHas(workflow, hook, 'follows_review') ? state.transitions[0]?.to : undefined
}

/** Returns the state to which the workflow cascades once the review of a gate has passed. */
export function cascadeOnPass(workflow: Workflow, gate: WorkflowState): string | undefined {
  const auto = hooksAt(gate, 'after_enter').find((hook) => hookHas(workflow, hook, 'follows_review'))
  return auto && cascadeOnSuccess(workflow, gate, auto)
}

export function hooksAt(state: WorkflowState, phase: HookPhase): readonly StateHook[] {
  return state.hooks?.[phase] ?? []
}

function traitsOf(state: WorkflowState, plugins: PluginTraits): ReadonlySet<StateTrait> {
  const phases = Object.entries(state.hooks ?? {}) as [HookPhase, readonly StateHook[]][]
  return new Set(
    phases.flatMap(([phase, hooks]) =>
      hooks.flatMap(({ plugin = '' }) => {
        const about = plugins.get(plugin)
        return about?.phases.includes(phase) ? about.traits : []
      }),
    ),
  )
}

/** Whether a plugin in the state's hooks makes this of it. */
export function hasTrait(workflow: Pick<Workflow, 'traits'>, state: WorkflowState, trait: StateTrait): boolean {
  return workflow.traits.get(state.name)?.has(trait) === true
}

/** Whether it is the plugin of this very hook that makes this of its state. */
export function hookHas(
  { plugins }: Pick<Workflow, 'plugins'>,
  { plugin = '' }: StateHook,
  trait: StateTrait,
): boolean {
  return plugins.get(plugin)?.traits.includes(trait) === true
}

/** A gate that keeps a review row per attempt: the one whose entry runs the CI steps. */
export function isReviewGate(workflow: Pick<Workflow, 'traits'>, state: WorkflowState): boolean {
  return state.kind === 'gate' && hasTrait(workflow, state, 'makes_gate')
}

/** What the plugins make of a workflow, for clients. */
export function clientTraits({ traits, plugins }: Workflow): WorkflowTraits {
  const named = [...plugins].filter(([, about]) => about.traits.length > 0)
  return {
    states: Object.fromEntries([...traits].map(([name, stateTraits]) => [name, [...stateTraits]])),
    plugins: Object.fromEntries(named.map(([name, about]) => [name, [...about.traits]])),
  }
}

/** The state in which a new task starts, the workflow's first without a name; null when none can start in it. */
export function startState(workflow: Workflow, name: string | null): WorkflowState | null {
  if (name === null) return workflow.entry
  const state = workflow.states.get(name)
  const mayStart = state?.kind === 'backlog' || state?.kind === 'initial' || name === workflow.entry.name
  return state !== undefined && mayStart ? state : null
}

/** The active state that a claim leads to, and the role that its claimant takes. */
export function workStateOf(workflow: Workflow, from: WorkflowState): WorkflowState | null {
  const seen = new Set<string>()
  for (let state: WorkflowState | null = from; state && !seen.has(state.name); state = forwardOf(workflow, state)) {
    if (state.kind === 'active') return state
    seen.add(state.name)
  }
  return null
}

/** "Done" in a rule: a terminal state that is not the cancellation state. */
export function isDone(workflow: Workflow, status: string): boolean {
  return workflow.states.get(status)?.kind === 'terminal' && status !== workflow.cancellation?.name
}
