import { graphlib, layout } from '@dagrejs/dagre'
import { gateOf, transitionsOf, type RawDefinition } from './edit-definition.ts'

/** The size of a state in the graph, in pixels. */
export const stateSize = { width: 116, height: 48 } as const

/** Between two states of a row, with room for the word on their edge. */
const gap = 64

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
    if (typeof reject === 'string') add({ from: state.name, to: reject, kind: 'reject', label: 'Request changes' })
    for (const { to, label } of transitionsOf(state)) add({ from: state.name, to, kind: 'transition', label })
    for (const to of cascadesOf(state['hooks'])) add({ from: state.name, to, kind: 'cascade', label: 'by a hook' })
  }
  return [...edges.values()]
}

/**
 * A place for every state. The way on stands in one row from left to right; what lies beside it stands below, one
 * column behind where it is left for, so that edges have the room between the rows.
 */
export function placeStates(raw: RawDefinition): readonly PlacedState[] {
  const line = wayOn(raw)
  const graph = new graphlib.Graph()
  graph.setGraph({ rankdir: 'LR', ranksep: gap, marginx: 24 })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const { name } of raw.states) graph.setNode(name, { ...stateSize })
  line.forEach((name, index) => {
    const next = line[index + 1]
    if (next !== undefined) graph.setEdge(name, next)
  })
  const edges = edgesOf(raw).filter(({ kind }) => kind !== 'reject')
  for (const { name } of raw.states) {
    const from = edges.find((edge) => edge.to === name)?.from
    if (!line.includes(name) && from !== undefined) graph.setEdge(from, name)
  }
  layout(graph)
  const taken = new Map<number, number>()
  const xOf = (name: string) => (graph.node(name) as { x: number }).x - stateSize.width / 2
  // What nothing leads to, like an end that every state leads to, stands where there is room, from the right.
  const columns = line.map(xOf).toReversed()
  const alone = (name: string) => columns.find((x) => !taken.has(x)) ?? xOf(name)
  const isAlone = (name: string) => !edges.some((edge) => edge.to === name || edge.from === name)
  const inOrder = raw.states.toSorted((one, other) => Number(isAlone(one.name)) - Number(isAlone(other.name)))
  return inOrder.map(({ name }) => {
    if (line.includes(name)) return { name, x: xOf(name), y: firstRow }
    const x = isAlone(name) ? alone(name) : xOf(name)
    const row = (taken.get(x) ?? 0) + 1
    taken.set(x, row)
    return { name, x, y: firstRow + row * rowHeight }
  })
}

/** Room for arcs above the first row, and between the rows. */
const firstRow = 56
const rowHeight = 132

/** From the first state to an end: out of each the first way that leads forward. */
function wayOn(raw: RawDefinition): readonly string[] {
  const edges = edgesOf(raw).filter(({ kind }) => kind !== 'reject')
  const rank = new Map(raw.states.map((state, index) => [state.name, index]))
  const line: string[] = []
  let at = raw.states[0]?.name
  while (at !== undefined) {
    line.push(at)
    const from = at
    at = edges.find((edge) => edge.from === from && (rank.get(edge.to) ?? 0) > (rank.get(from) ?? 0))?.to
  }
  return line
}

/** At which sides an edge leaves and arrives; `arc` where it goes round what stands between, `over` it or `under`. */
export interface EdgeSides {
  readonly out: 'right' | 'top' | 'bottom'
  readonly in: 'left' | 'top' | 'bottom'
  readonly arc: 'over' | 'under' | null
}

/** How an edge goes from one place to another without crossing a state of their rows. */
export function sidesOf(kind: GraphEdge['kind'], from: PlacedState, to: PlacedState): EdgeSides {
  if (to.y > from.y) return { out: 'bottom', in: 'top', arc: null }
  if (to.y < from.y) return { out: 'top', in: 'bottom', arc: null }
  const pitch = stateSize.width + gap
  if (to.x > from.x && to.x - from.x <= pitch) return { out: 'right', in: 'left', arc: null }
  return kind === 'reject' ? { out: 'top', in: 'top', arc: 'over' } : { out: 'bottom', in: 'bottom', arc: 'under' }
}

/** The line of an edge that leaves and arrives at the same side: the further, the higher, but never far. */
export function arcPath(fromX: number, toX: number, y: number, arc: 'over' | 'under'): string {
  const height = arcHeight(fromX, toX, arc)
  return `M${fromX},${y} C${fromX},${y + height} ${toX},${y + height} ${toX},${y}`
}

/** Where such a line is furthest from the states. */
export const arcTop = (fromX: number, toX: number, y: number, arc: 'over' | 'under'): number =>
  y + arcHeight(fromX, toX, arc) * 0.75

const arcHeight = (fromX: number, toX: number, arc: 'over' | 'under'): number =>
  Math.min(48, 22 + Math.abs(toX - fromX) * 0.06) * (arc === 'over' ? -1 : 1)

function cascadesOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(cascadesOf)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    key === 'cascade' && typeof inner === 'string' ? [inner] : cascadesOf(inner),
  )
}
