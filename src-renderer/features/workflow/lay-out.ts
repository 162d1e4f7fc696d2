import { graphlib, layout } from '@dagrejs/dagre'
import { gateOf, waysOf, type RawDefinition } from './edit-definition.ts'

/** The size of a state in the graph, in pixels. */
export const stateSize = { width: 116, height: 48 } as const

export interface PlacedState {
  readonly name: string
  readonly x: number
  readonly y: number
}

export interface GraphEdge {
  readonly id: string
  readonly from: string
  readonly to: string
  readonly kind: 'transition' | 'reject' | 'cascade'
  readonly label: string
}

/** Every way that leads somewhere: transitions, what a gate sends back, where hooks cascade to. */
export function edgesOf(raw: RawDefinition): readonly GraphEdge[] {
  const names = new Set(raw.states.map((state) => state.name))
  const edges = new Map<string, GraphEdge>()
  const add = (edge: Omit<GraphEdge, 'id'>): void => {
    const id = `${edge.from}>${edge.to}`
    if (names.has(edge.to) && edge.from !== edge.to && !edges.has(id)) edges.set(id, { id, ...edge })
  }
  for (const state of raw.states) {
    const reject = gateOf(state)['reject_target']
    if (typeof reject === 'string') add({ from: state.name, to: reject, kind: 'reject', label: 'reject' })
    for (const { to, label } of waysOf(state)) add({ from: state.name, to, kind: 'transition', label })
    for (const to of cascadesOf(state['hooks'])) add({ from: state.name, to, kind: 'cascade', label: 'by a hook' })
  }
  return [...edges.values()]
}

/**
 * A place for every state, from left to right as work goes forward. Only the first way out of a state pulls the next one
 * along: that is the way forward, and ways back would tear it apart.
 */
export function placeStates(raw: RawDefinition): readonly PlacedState[] {
  const graph = new graphlib.Graph()
  graph.setGraph({ rankdir: 'LR', nodesep: 40, ranksep: 36, marginx: 24, marginy: 56 })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const state of raw.states) graph.setNode(state.name, { ...stateSize })
  const rank = new Map(raw.states.map((state, index) => [state.name, index]))
  for (const edge of edgesOf(raw)) {
    const first = waysOf(raw.states[rank.get(edge.from) ?? -1] ?? { name: '' })[0]?.to === edge.to
    const forward = (rank.get(edge.to) ?? 0) > (rank.get(edge.from) ?? 0)
    if (first && forward) graph.setEdge(edge.from, edge.to, { weight: 10 })
    else if (forward) graph.setEdge(edge.from, edge.to, { weight: 1 })
  }
  layout(graph)
  return raw.states.map(({ name }) => {
    const { x, y } = graph.node(name) as { x: number; y: number }
    return { name, x: x - stateSize.width / 2, y: y - stateSize.height / 2 }
  })
}

function cascadesOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(cascadesOf)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    key === 'cascade' && typeof inner === 'string' ? [inner] : cascadesOf(inner),
  )
}
