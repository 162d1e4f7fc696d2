import type { StateHook, WorkflowDefinition } from '../../../src-shared/contract/workflow-definition.ts'

/** A rule that a definition breaks, with the place in it. */
export interface WorkflowIssue {
  readonly rule:
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

/** Every broken rule of a definition that has the right shape; empty when it can be used. */
export function validateWorkflow(
  definition: WorkflowDefinition,
  plugins: ReadonlySet<string>,
): readonly WorkflowIssue[] {
  const issues: WorkflowIssue[] = []
  const report = (rule: WorkflowIssue['rule'], path: string, message: string) => issues.push({ rule, path, message })
  const names = new Set<string>()
  const roles = new Set(definition.roles.map((role) => role.name))
  definition.states.forEach((state, index) => {
    const path = `states.${index}`
    if (names.has(state.name)) report('duplicate_state', `${path}.name`, `The name ${state.name} is used twice.`)
    names.add(state.name)
    if (state.column.trim() === '') report('column_empty', `${path}.column`, `${state.name} needs a column.`)
    if (state.role === 'assignee' && state.kind !== 'active') {
      report(
        'assignee_only_on_active',
        `${path}.role`,
        `Only active states may have the role assignee; ${state.name} is ${state.kind}.`,
      )
    } else if (state.role !== undefined && state.role !== 'assignee' && !roles.has(state.role)) {
      report(
        'undeclared_role',
        `${path}.role`,
        `${state.name} names the role ${state.role}, which roles does not declare.`,
      )
    }
    for (const [phase, hooks] of Object.entries(state.hooks ?? {})) {
      hooks.forEach((hook, at) => {
        if (hook.plugin !== undefined && !plugins.has(hook.plugin)) {
          report('unknown_plugin', `${path}.hooks.${phase}.${at}`, `There is no plugin ${hook.plugin}.`)
        }
      })
    }
  })
  checkTargets(definition, names, report)
  const initials = definition.states.filter((state) => state.kind === 'initial')
  if (initials.length !== 1) {
    report('single_initial', 'states', `Exactly one state has kind initial; this workflow has ${initials.length}.`)
  }
  if (!definition.states.some((state) => state.kind === 'terminal')) {
    report('terminal_required', 'states', 'At least one state has kind terminal.')
  }
  if (issues.length === 0) checkReachable(definition, report)
  return issues
}

type Report = (rule: WorkflowIssue['rule'], path: string, message: string) => void

function checkTargets(definition: WorkflowDefinition, names: ReadonlySet<string>, report: Report): void {
  if (definition.initial_state !== undefined && !names.has(definition.initial_state)) {
    report('initial_state_missing', 'initial_state', `There is no state ${definition.initial_state}.`)
  }
  if (definition.cancellation_state !== undefined && !names.has(definition.cancellation_state)) {
    report('cancellation_state_missing', 'cancellation_state', `There is no state ${definition.cancellation_state}.`)
  }
  definition.states.forEach((state, index) => {
    state.transitions.forEach((transition, at) => {
      if (!names.has(transition.to)) {
        report(
          'transition_target_missing',
          `states.${index}.transitions.${at}`,
          `${state.name} leads to ${transition.to}, which does not exist.`,
        )
      }
    })
    const target = state.gate_config?.reject_target
    if (target !== undefined && !names.has(target)) {
      report(
        'reject_target_missing',
        `states.${index}.gate_config.reject_target`,
        `${state.name} rejects to ${target}, which does not exist.`,
      )
    }
    for (const cascade of cascadesOf(state.hooks)) {
      if (!names.has(cascade))
        report(
          'transition_target_missing',
          `states.${index}.hooks`,
          `A hook of ${state.name} cascades to ${cascade}, which does not exist.`,
        )
    }
  })
}

function checkReachable(definition: WorkflowDefinition, report: Report): void {
  const initial = definition.states.find((state) => state.kind === 'initial')
  const start = definition.initial_state ?? initial?.name ?? ''
  const states = new Map(definition.states.map((state) => [state.name, state]))
  const cancellation = definition.cancellation_state ?? 'cancelled'
  const reached = new Set([start, cancellation])
  // A set grows while it is walked, and the walk sees what was added.
  for (const name of reached) {
    const state = states.get(name)
    if (!state) continue
    for (const transition of state.transitions) reached.add(transition.to)
    if (state.gate_config?.reject_target !== undefined) reached.add(state.gate_config.reject_target)
    for (const cascade of cascadesOf(state.hooks)) reached.add(cascade)
  }
  for (const [index, state] of definition.states.entries()) {
    if (!reached.has(state.name))
      report('unreachable_state', `states.${index}`, `Nothing leads to ${state.name} from ${start}.`)
  }
}

function cascadesOf(hooks: Partial<Record<string, readonly StateHook[]>> | undefined): string[] {
  return Object.values(hooks ?? {}).flatMap((list) =>
    (list ?? []).flatMap((hook) => [
      ...(typeof hook.on_failure === 'object' ? [hook.on_failure.cascade] : []),
      ...(hook.on_success ? [hook.on_success.cascade] : []),
    ]),
  )
}
