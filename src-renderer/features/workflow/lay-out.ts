import { graphlib, layout } from '@dagrejs/dagre'
import { gateOf, transitionsOf, type RawDefinition } from './edit-definition.ts'
import { edgeWord } from './state-text.ts'

/** The size of a state in the graph, in pixels. */
export const stateSize = { width: 116, height: 48 } as const

/** The minimum gap between states of a row, in pixels. */
const gap = 64

export interface PlacedState {
  readonly name: string
  readonly x: number
  readonly y: number
  /** Counted from the left. */
  readonly column: number
}

export interface GraphEdge {
  readonly id: string
  readonly from: string
  readonly to: string
  readonly kind: 'transition' | 'reject' | 'cascade'
  readonly label: string
}

/** Returns all edges: transitions, rejections of gates, and cascades of hooks. */
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
 * Returns the layout of the states. The way forward is one row from left to right. Other states are
 * below it, one column after the state that leads to them, so that edges fit between the rows.
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
  const places = raw.states.map(({ name }) => (graph.node(name) as { x: number }).x)
  const first = Math.min(...places)
  const columnOf = (name: string) =>
    Math.round(((graph.node(name) as { x: number }).x - first) / (stateSize.width + gap))
  const lefts = columnLefts(raw, line, Math.max(0, ...raw.states.map(({ name }) => columnOf(name))))
  // States without an incoming edge, like an end that every state leads to, take a free column from
  // the right.
  const columns = line.map(columnOf).toReversed()
  const alone = (name: string) => columns.find((column) => !taken.has(column)) ?? columnOf(name)
  const isAlone = (name: string) => !edges.some((edge) => edge.to === name || edge.from === name)
  const inOrder = raw.states.toSorted((one, other) => Number(isAlone(one.name)) - Number(isAlone(other.name)))
  return inOrder.map(({ name }) => {
    const isOnLine = line.includes(name)
    const column = isAlone(name) && !isOnLine ? alone(name) : columnOf(name)
    const row = isOnLine ? 0 : (taken.get(column) ?? 0) + 1
    if (!isOnLine) taken.set(column, row)
    return { name, column, x: lefts[column] ?? 0, y: firstRow + row * rowHeight }
  })
}

/** Returns the first two states of the first row. */
export const beginningOf = (places: readonly PlacedState[]): readonly string[] =>
  places
    .toSorted((one, other) => one.y - other.y || one.x - other.x)
    .slice(0, 2)
    .map(({ name }) => name)

/**
 * Returns the left of each column, with room for the label on the edge between neighbors of the
 * first row.
 */
function columnLefts(raw: RawDefinition, line: readonly string[], last: number): readonly number[] {
  const labels = new Map(edgesOf(raw).map(({ id, label }) => [id, edgeWord(label)]))
  const lefts = [margin]
  for (let column = 1; column <= last; column++) {
    const word = labels.get(`${line[column - 1] ?? ''}>${line[column] ?? ''}`) ?? ''
    const room = Math.max(gap, word.length * letterWidth + besideWord)
    lefts.push((lefts.at(-1) ?? 0) + stateSize.width + room)
  }
  return lefts
}

const margin = 24
/** The width in pixels of a letter of an edge label (font size 10): a wide average. */
const letterWidth = 5.6
/** Pixels of line on both sides of a label, with the arrow. */
const besideWord = 34

/** Room in pixels for arcs above the first row, and between rows. */
const firstRow = 56
const rowHeight = 132

/** Returns the way forward from the first state to an end: the first forward edge of each state. */
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

/**
 * The sides at which an edge starts and ends; `arc` is `over` or `under` if it bypasses states in
 * between.
 */
export interface EdgeSides {
  readonly out: 'right' | 'top' | 'bottom'
  readonly in: 'left' | 'top' | 'bottom'
  readonly arc: 'over' | 'under' | null
}

/** Returns the sides of an edge such that it crosses no state of its rows. */
export function sidesOf(kind: GraphEdge['kind'], from: PlacedState, to: PlacedState): EdgeSides {
  if (to.y > from.y) return { out: 'bottom', in: 'top', arc: null }
  if (to.y < from.y) return { out: 'top', in: 'bottom', arc: null }
  if (to.column - from.column === 1) return { out: 'right', in: 'left', arc: null }
  return kind === 'reject' ? { out: 'top', in: 'top', arc: 'over' } : { out: 'bottom', in: 'bottom', arc: 'under' }
}

/**
 * Returns the path of an edge that starts and ends at the same side. The height grows with the
 * distance up to a maximum.
 */
export function arcPath(fromX: number, toX: number, y: number, arc: 'over' | 'under'): string {
  const height = arcHeight(fromX, toX, arc)
  return `M${fromX},${y} C${fromX},${y + height} ${toX},${y + height} ${toX},${y}`
}

/**
 * Returns the position of an arc's label: above the states in the middle, below them nearer to the
 * end, because labels of edges between rows are in the middle.
 */
export function arcWord(fromX: number, toX: number, y: number, arc: 'over' | 'under') {
  const t = arc === 'over' ? 0.5 : 0.7
  const along = 3 * t ** 2 - 2 * t ** 3
  return { x: fromX + (toX - fromX) * along, y: y + arcHeight(fromX, toX, arc) * 3 * t * (1 - t) }
}

const arcHeight = (fromX: number, toX: number, arc: 'over' | 'under'): number =>
  Math.min(48, 22 + Math.abs(toX - fromX) * 0.06) * (arc === 'over' ? -1 : 1)

function cascadesOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(cascadesOf)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    key === 'cascade' && typeof inner === 'string' ? [inner] : cascadesOf(inner),
  )
}
