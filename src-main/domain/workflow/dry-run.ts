import type { HookPhase, WorkflowState } from '../../../src-shared/contract/workflow-definition.ts'
import type { DryRun } from '../../../src-shared/contract/workflow-templates.ts'
import { cascadeOnSuccess, clientTraits, hooksAt, type Workflow } from './graph.ts'
import { graphOf, simplePaths, type Budget, type Graph } from './simple-paths.ts'

/** How much of a tangled workflow is told: more than anybody reads. */
const limits = { paths: 200, loops: 200, hooks: 50_000 }

/** Looks at nodes and edges for the paths, and as many for the loops: a tenth of a second or so. */
const work = 8_000_000

type Path = DryRun['paths'][number]

/** What the search may still do; tests count with it what a walk costs. */
export interface DryRunBudgets {
  readonly paths: Budget
  readonly loops: Budget
}

export function dryRunBudgets(): DryRunBudgets {
  return { paths: { left: work }, loops: { left: work } }
}

/**
 * Walks a pretend task through a workflow: each way to an end that passes no state twice, the
 * circles that it can be sent round in, and where it would get stuck. Cancellation is left out: it
 * leads from everywhere to the same state, and would double every path without telling anything.
 * So are the short cuts of a claim over gates whose role has no holder: they pass the same states, or fewer.
 */
export function dryRun(workflow: Workflow, budgets: DryRunBudgets = dryRunBudgets()): DryRun {
  const { states } = workflow.definition
  const numbers = new Map(states.map((state, index) => [state.name, index]))
  const stuck = new Map(states.flatMap((state) => stuckReason(state)))
  const ways = states.map((state) => outgoingEdges(workflow, state, stuck.has(state.name)))
  const graph = graphOf(ways.map((list) => list.flatMap((way) => numbers.get(way.to) ?? [])))
  const model: Model = { workflow, states, ways, graph, stuck }
  const start = numbers.get(workflow.entry.name) ?? 0
  return {
    paths: pathsFrom(model, start, budgets.paths),
    loops: loopsOf(model, budgets.loops),
    dead_ends: states
      .filter((state, index) => state.kind !== 'terminal' && ways[index]?.length === 0)
      .map((state) => state.name),
    stuck_gates: [...stuck].map(([state, reason]) => ({ state, reason })),
    warnings: [],
    traits: clientTraits(workflow),
  }
}

interface Model {
  readonly workflow: Workflow
  readonly states: readonly WorkflowState[]
  /** The ways out of each state; the first to a target is how it is told. */
  readonly ways: readonly (readonly WorkflowEdge[])[]
  readonly graph: Graph
  readonly stuck: ReadonlyMap<string, string>
}

/** Why a gate can't be passed. A gate whose hook cascades after a pass needs no transition. */
function stuckReason(state: WorkflowState): readonly [string, string][] {
  if (state.kind !== 'gate') return []
  const leadsOn = (['on_enter', 'after_enter'] as const).some((phase) =>
    hooksAt(state, phase).some((hook) => hook.on_success && hook.on_success.cascade !== state.name),
  )
  if (leadsOn) return []
  const [forward] = state.transitions
  if (!forward || forward.to === state.name) {
    return [[state.name, 'No forward transition: nothing follows an approval.']]
  }
  if (state.gate_config?.requires_human_approval && forward.audience === 'agent_only') {
    return [[state.name, `Requires a person's approval, but only agents can move on to ${forward.to}.`]]
  }
  return []
}

function pathsFrom(model: Model, start: number, budget: Budget): Path[] {
  const { graph, states, stuck } = model
  const isEnd = (node: number) => graph.next[node]?.length === 0 || stuck.has(states[node]?.name ?? '')
  const found = simplePaths({ graph, start, isEnd, least: 0, limit: limits.paths, budget })
  const paths: Path[] = []
  let hooks = 0
  for (const nodes of found) {
    const path = describe(model, nodes)
    hooks += path.states.length + path.hooks.length
    if (paths.length > 0 && hooks > limits.hooks) break
    paths.push(path)
  }
  return paths
}

function describe(model: Model, nodes: readonly number[]): Path {
  const states = nodes.flatMap((node) => model.states[node] ?? [])
  const last = states.at(-1)
  const turns: string[] = []
  const hooks: Path['hooks'] = []
  for (const [index, state] of states.entries()) {
    const before = states[index - 1]
    // A new task stands in its first state without having entered it.
    if (before) hooks.push(...firing(state, ['before_enter', 'on_enter', 'after_enter']))
    const next = states[index + 1]
    if (!next) continue
    hooks.push(...firing(state, ['before_exit', 'on_exit']))
    const way = model.ways[nodes[index] ?? -1]?.find((one) => one.to === next.name)
    if (way && way.label !== null) turns.push(way.label)
  }
  const end = last?.label ?? ''
  const shown = turns.slice(0, 3).join(', then ')
  const more = turns.length > 3 ? `, and ${turns.length - 3} more turns` : ''
  return {
    name: turns.length === 0 ? `Straight to ${end}` : `${shown}${more}, to ${end}`,
    states: states.map((state) => state.name),
    hooks,
    ends_in: last?.name ?? '',
  }
}

function firing(state: WorkflowState, phases: readonly HookPhase[]): Path['hooks'] {
  return phases.flatMap((phase) =>
    hooksAt(state, phase).map((hook) => ({ state: state.name, phase, action: hook.plugin ?? 'script' })),
  )
}

/** Every circle once: found from its first state, through states that are declared after it. */
function loopsOf({ graph, states, ways }: Model, budget: Budget): DryRun['loops'] {
  const loops: DryRun['loops'] = []
  for (let start = 0; start < states.length; start++) {
    if (loops.length >= limits.loops || budget.left <= 0) break
    const closes = new Set(graph.previous[start])
    const limit = limits.loops - loops.length
    const isEnd = (node: number) => closes.has(node)
    for (const nodes of simplePaths({ graph, start, isEnd, least: start, limit, budget })) {
      const budgets = nodes.flatMap((node, index) => {
        const next = states[nodes[(index + 1) % nodes.length] ?? -1]
        const rejects = ways[node]?.some((way) => way.kind === 'reject' && way.to === next?.name)
        const allowed = states[node]?.gate_config?.max_rejections
        return rejects && allowed !== undefined ? [allowed] : []
      })
      loops.push({
        states: nodes.flatMap((node) => states[node]?.name ?? []),
        budget: budgets.length === 0 ? null : Math.min(...budgets),
      })
    }
  }
  return loops
}

/** One way out of a state. `label` is how it is told; null for the way straight on. */
interface WorkflowEdge {
  readonly kind: 'forward' | 'declared' | 'reject' | 'cascade'
  readonly to: string
  readonly label: string | null
}

/**
 * Every way out of a state, as the engine takes it: none out of a terminal one, and none forward out
 * of a gate that can't be passed. Only the first declared transition is the way straight on, or the
 * cascade of a hook that leads to the same state or where none is declared.
 */
function outgoingEdges(workflow: Workflow, state: WorkflowState, isStuck: boolean): readonly WorkflowEdge[] {
  if (state.kind === 'terminal') return []
  const ways: WorkflowEdge[] = []
  for (const [index, { to, label }] of state.transitions.entries()) {
    if (index > 0) ways.push({ kind: 'declared', to, label: `${label} at ${state.label}` })
    else if (!isStuck) ways.push({ kind: 'forward', to, label: null })
  }
  const reject = state.kind === 'gate' ? state.gate_config?.reject_target : undefined
  if (reject !== undefined) ways.push({ kind: 'reject', to: reject, label: `rejected at ${state.label}` })
  for (const hook of Object.values(state.hooks ?? {}).flat()) {
    const action = hook.plugin ?? 'a script'
    const onward = cascadeOnSuccess(workflow, state, hook)
    if (onward !== undefined) {
      const label = ways.length === 0 ? null : `${action} leads on at ${state.label}`
      ways.push({ kind: 'cascade', to: onward, label })
    }
    if (typeof hook.on_failure === 'object') {
      ways.push({ kind: 'cascade', to: hook.on_failure.cascade, label: `${action} fails at ${state.label}` })
    }
  }
  return ways
}
