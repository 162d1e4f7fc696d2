import type {
  StateHook,
  StateTrait,
  WorkflowDefinition,
  WorkflowState,
} from '../../../src-shared/contract/workflow-definition.ts'

/** A rule that a definition breaks, with the place in it. */
export interface WorkflowIssue {
  readonly rule:
    | 'schema'
    | 'single_initial'
    | 'terminal_required'
    | 'unreachable_state'
    | 'undeclared_role'
    | 'assignee_only_on_active'
    | 'reject_target_missing'
    | 'column_empty'
    | 'duplicate_state'
    | 'transition_target_missing'
    | 'unknown_plugin'
    | 'initial_state_missing'
    | 'cancellation_state_missing'
  readonly path: string
  readonly message: string
}

/** The plugins that a workflow may name, each with a check of its options: what is wrong with them, or null. */
export type PluginChecks = ReadonlyMap<string, PluginCheck>

/** Checks a plugin's options; `traits` are what the plugin makes of its state. */
export interface PluginCheck {
  (config: unknown): string | null
  readonly traits?: readonly StateTrait[]
}

/** Every broken rule of a definition that has the right shape; empty when it can be used. */
export function validateWorkflow(definition: WorkflowDefinition, plugins: PluginChecks): readonly WorkflowIssue[] {
  const issues: WorkflowIssue[] = []
  const report: Report = (rule, path, message) => issues.push({ rule, path, message })
  const facts: Facts = {
    definition,
    names: new Set(definition.states.map((state) => state.name)),
    roles: new Set(definition.roles.map((role) => role.name)),
    plugins,
    report,
  }
  checkRoles(facts)
  const seen = new Set<string>()
  for (const [index, state] of definition.states.entries()) {
    const path = `states.${index}`
    if (seen.has(state.name)) report('duplicate_state', `${path}.name`, `The name ${state.name} is used twice.`)
    seen.add(state.name)
    checkState(facts, state, path)
    checkHooks(facts, state, path)
    checkTargets(facts, state, path)
    checkGate(facts, state, path)
    checkFlow(facts, state, path)
  }
  checkNamedStates(facts)
  const initials = definition.states.filter((state) => state.kind === 'initial')
  if (initials.length !== 1) {
    report('single_initial', 'states', `Exactly one state has kind initial; this workflow has ${initials.length}.`)
  }
  if (!definition.states.some((state) => state.kind === 'terminal')) {
    report('terminal_required', 'states', 'At least one state has kind terminal; this workflow has none.')
  }
  checkReachable(facts)
  return issues
}

type Report = (rule: WorkflowIssue['rule'], path: string, message: string) => void

interface Facts {
  readonly definition: WorkflowDefinition
  readonly names: ReadonlySet<string>
  readonly roles: ReadonlySet<string>
  readonly plugins: PluginChecks
  readonly report: Report
}

function checkRoles({ definition, report }: Facts): void {
  const seen = new Set<string>()
  for (const [index, { name }] of definition.roles.entries()) {
    const path = `roles.${index}.name`
    if (name === 'assignee') {
      report('schema', path, 'The role assignee is there without being declared; leave it out of roles.')
    }
    // Assignments are kept by the role's name, in an object that has these names already.
    if (name in {}) report('schema', path, `${name} can't be the name of a role. Choose another.`)
    if (seen.has(name)) report('schema', path, `The role ${name} is declared twice.`)
    seen.add(name)
  }
}

function checkState({ roles, report }: Facts, state: WorkflowState, path: string): void {
  if (state.column.trim() === '') report('column_empty', `${path}.column`, `${state.name} needs a column.`)
  if (state.role === undefined) return
  if (state.role === 'assignee') {
    if (state.kind === 'active') return
    const message = `Only active states can have the role assignee; ${state.name} is ${state.kind}.`
    report('assignee_only_on_active', `${path}.role`, message)
  } else if (!roles.has(state.role)) {
    const message = `${state.name} names the role ${state.role}, which roles does not declare.`
    report('undeclared_role', `${path}.role`, message)
  }
}

function checkHooks({ names, plugins, report }: Facts, state: WorkflowState, path: string): void {
  for (const [phase, hooks] of Object.entries(state.hooks ?? {})) {
    for (const [index, hook] of hooks.entries()) {
      const at = `${path}.hooks.${phase}.${index}`
      if (hook.plugin !== undefined) {
        const check = plugins.get(hook.plugin)
        if (!check) {
          const known = [...plugins.keys()].join(', ')
          report('unknown_plugin', at, `No plugin ${hook.plugin}. Available: ${known}.`)
        }
        const wrong = check?.(hook.config ?? {}) ?? null
        if (wrong !== null) report('schema', `${at}.config`, `The options of ${hook.plugin} can't be used: ${wrong}`)
      }
      for (const target of cascadesOf(hook)) {
        if (names.has(target)) continue
        const message = `A hook of ${state.name} cascades to ${target}, which does not exist.`
        report('transition_target_missing', at, message)
      }
    }
  }
}

function checkTargets({ names, report }: Facts, state: WorkflowState, path: string): void {
  for (const [index, { to }] of state.transitions.entries()) {
    if (names.has(to)) continue
    const message = `${state.name} leads to ${to}, which does not exist.`
    report('transition_target_missing', `${path}.transitions.${index}`, message)
  }
}

function checkGate({ names, report }: Facts, { name, kind, gate_config }: WorkflowState, path: string): void {
  if (gate_config === undefined) return
  if (kind !== 'gate') {
    const message = `Only a gate has a gate_config; ${name} is ${kind}. Make it a gate, or leave gate_config out.`
    report('schema', `${path}.gate_config`, message)
  }
  const target = gate_config.reject_target
  if (target === undefined || names.has(target)) return
  const message = `${name} rejects to ${target}, which does not exist.`
  report('reject_target_missing', `${path}.gate_config.reject_target`, message)
}

/** Finished work is never limited, and merged or unstarted work is never pulled automatically. */
function checkFlow({ definition, plugins, report }: Facts, state: WorkflowState, path: string): void {
  const { name, kind, column, wip_limit, pulls } = state
  if (wip_limit !== undefined && kind === 'terminal') {
    report('schema', `${path}.wip_limit`, `${name} is terminal: finished tasks can't be limited. Leave wip_limit out.`)
  }
  if (pulls !== true) return
  const why =
    kind === 'terminal' || kind === 'backlog'
      ? `it is ${kind}`
      : Object.values(state.hooks ?? {}).some((hooks) =>
            hooks.some(({ plugin = '' }) => plugins.get(plugin)?.traits?.includes('merges')),
          )
        ? 'it merges'
        : definition.states[0]?.column === column
          ? 'no column is before it'
          : null
  if (why !== null) report('schema', `${path}.pulls`, `${name} can't pull: ${why}. Leave pulls out.`)
}

function checkNamedStates({ definition, report }: Facts): void {
  const { initial_state, cancellation_state } = definition
  const kindOf = (name: string) => definition.states.find((state) => state.name === name)?.kind
  if (initial_state !== undefined) {
    const kind = kindOf(initial_state)
    if (kind === undefined) report('initial_state_missing', 'initial_state', `No state ${initial_state}.`)
    if (kind === 'terminal') {
      const message = `New tasks would be finished immediately: ${initial_state} is terminal. Choose another initial_state.`
      report('initial_state_missing', 'initial_state', message)
    }
  }
  if (cancellation_state === undefined) return
  const kind = kindOf(cancellation_state)
  if (kind === 'terminal') return
  const message =
    kind === undefined
      ? `No state ${cancellation_state}.`
      : `Cancelled tasks are finished: ${cancellation_state} must be terminal, and it is ${kind}.`
  report('cancellation_state_missing', 'cancellation_state', message)
}

/** The state of kind `initial` counts as reached: reassigned and reset tasks come back to it from anywhere. */
function checkReachable({ definition, names, report }: Facts): void {
  const initial = definition.states.find((state) => state.kind === 'initial')
  const start = definition.initial_state ?? initial?.name
  // Without a start there is nothing to walk from, and another rule has said so.
  if (start === undefined || !names.has(start)) return
  const reached = reachableFrom(definition, start)
  const cancellation = definition.cancellation_state ?? 'cancelled'
  for (const [index, state] of definition.states.entries()) {
    if (reached.has(state.name) || state.kind === 'initial') continue
    if (state.kind === 'terminal' && state.name === cancellation) continue
    report('unreachable_state', `states.${index}`, `Nothing leads to ${state.name} from ${start}.`)
  }
}

function reachableFrom(definition: WorkflowDefinition, start: string): ReadonlySet<string> {
  const states = new Map(definition.states.map((state) => [state.name, state]))
  const reached = new Set([start])
  // A set grows while it is walked, and the walk sees what was added.
  for (const name of reached) {
    const state = states.get(name)
    if (!state) continue
    for (const target of targetsOf(state)) reached.add(target)
  }
  return reached
}

/** Where a state can lead: its declared transitions, a gate's reject target and the cascades of its hooks, in this order. */
export function targetsOf(state: WorkflowState): readonly string[] {
  const reject = state.kind === 'gate' ? state.gate_config?.reject_target : undefined
  return [
    ...state.transitions.map((transition) => transition.to),
    ...(reject === undefined ? [] : [reject]),
    ...Object.values(state.hooks ?? {}).flatMap((hooks) => hooks.flatMap(cascadesOf)),
  ]
}

function cascadesOf(hook: StateHook): readonly string[] {
  return [
    ...(hook.on_success ? [hook.on_success.cascade] : []),
    ...(typeof hook.on_failure === 'object' ? [hook.on_failure.cascade] : []),
  ]
}
