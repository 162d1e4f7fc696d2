import { pluginTraits } from '../../../src-main/plugins/create-plugins.ts'
import { dryRun } from '../../../src-main/domain/workflow/dry-run.ts'
import { indexWorkflow } from '../../../src-main/domain/workflow/graph.ts'
import { WorkflowDefinition } from '../../../src-shared/contract/workflow-definition.ts'
import type { DryRun } from '../../../src-shared/contract/workflow-templates.ts'
import type { BenchRow } from '../row.ts'

const sizes = { full: { states: 200, walks: 20 }, quick: { states: 20, walks: 2 } } as const

/**
 * What `POST /projects/{id}/workflow/dry_run` works out for a definition of 200 states: paths with their hooks,
 * loops with their budgets, dead ends, stuck gates. The floor is a bare depth-first walk over the same graph
 * that lists as many paths, and nothing else.
 */
export const dryRunRow: BenchRow = {
  name: 'dry-run-200-states',
  unit: 'ms',
  better: 'lower',
  goal: 100,
  rounds: { full: { warmUp: 3, measured: 15 }, quick: { warmUp: 1, measured: 2 } },
  prepare: ({ scale }) => {
    const { states, walks } = sizes[scale]
    const workflow = indexWorkflow(definitionOf(states), pluginTraits)
    const targets = new Map(workflow.definition.states.map((state) => [state.name, targetsOf(state)]))
    const told = dryRun(workflow)
    const { length } = told.paths
    const found = { product: 0, floor: 0 }
    const timed = (work: () => number, name: keyof typeof found) => {
      const since = performance.now()
      for (let walk = 0; walk < walks; walk++) found[name] = work()
      return Promise.resolve((performance.now() - since) / walks)
    }
    return Promise.resolve({
      product: () => timed(() => dryRun(workflow).paths.length, 'product'),
      floor: () => timed(() => walk(targets, 's0', length).length, 'floor'),
      verify: () => {
        if (found.product !== length || found.floor !== length || length < 2) {
          return Promise.reject(new Error(`Paths: the product ${found.product}, the floor ${found.floor}.`))
        }
        return Promise.resolve(checkTold(told, targets))
      },
      [Symbol.asyncDispose]: () => Promise.resolve(),
    })
  },
}

/** Work and gate by turns; each gate sends back, and every tenth work may be left out. */
function definitionOf(count: number): WorkflowDefinition {
  const last = count - 1
  const name = (number: number) => `s${Math.min(number, last)}`
  const states = Array.from({ length: count }, (_, number) => {
    const to = [number + 1, ...(number % 10 === 1 ? [number + 3] : [])]
    const base = { name: name(number), column: 'Column', label: name(number) }
    if (number === last) return { ...base, kind: 'terminal' }
    const transitions = [...new Set(to.map(name))].map((target) => ({ to: target, label: target }))
    if (number === 0) return { ...base, kind: 'initial', transitions }
    if (number % 2 === 1) {
      return { ...base, kind: 'active', transitions, hooks: { on_enter: [{ plugin: 'dispatch_role_agent' }] } }
    }
    const gate_config = { reject_target: name(number - 1), max_rejections: 3 }
    return { ...base, kind: 'gate', transitions, gate_config, hooks: { before_enter: [{ plugin: 'run_ci_steps' }] } }
  })
  return WorkflowDefinition.parse({ states })
}

/** Throws unless the paths are different walks through the graph with their hooks, and every gate's loop is told. */
function checkTold({ paths, loops }: DryRun, targets: ReadonlyMap<string, readonly string[]>): void {
  if (new Set(paths.map((path) => path.states.join())).size !== paths.length) throw new Error('A path is told twice.')
  for (const { states, hooks, ends_in } of paths) {
    const isWalk = states.every((name, index) => index === 0 || targets.get(states[index - 1] ?? '')?.includes(name))
    if (!isWalk || new Set(states).size !== states.length || states.at(-1) !== ends_in) {
      throw new Error(`No path through the workflow: ${states.join()}`)
    }
    // Every state but the first and the last brings one.
    if (hooks.length !== states.length - 2) throw new Error(`${hooks.length} hooks on a path of ${states.length}.`)
  }
  const gates = Math.floor((targets.size - 2) / 2)
  const sentBack = loops.filter((loop) => loop.states.length === 2 && loop.budget === 3)
  if (sentBack.length !== gates) throw new Error(`${sentBack.length} of ${gates} loops between gate and work are told.`)
}

function targetsOf(state: WorkflowDefinition['states'][number]): readonly string[] {
  const back = state.gate_config?.reject_target
  return [...state.transitions.map((one) => one.to), ...(back === undefined ? [] : [back])]
}

function walk(targets: ReadonlyMap<string, readonly string[]>, start: string, limit: number): readonly string[][] {
  const paths: string[][] = []
  const path: string[] = []
  const visit = (name: string) => {
    if (paths.length >= limit || path.includes(name)) return
    path.push(name)
    const next = targets.get(name) ?? []
    if (next.length === 0) paths.push([...path])
    for (const target of next) visit(target)
    path.pop()
  }
  visit(start)
  return paths
}
