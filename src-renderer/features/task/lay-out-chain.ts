import { graphlib, layout } from '@dagrejs/dagre'
import type { Chain, ChainEdge } from '../../model/chains.ts'

/** The width of a task in the chain, in pixels. */
export const nodeWidth = 168

/** The gaps between columns and between tasks of a column, in pixels. */
const columnGap = 36
const rowGap = 10
/** The space around the chain for focus rings, in pixels. */
const margin = 8

export interface PlacedTask {
  readonly id: string
  readonly x: number
  readonly y: number
  readonly height: number
}

interface PlacedEdge extends ChainEdge {
  readonly path: string
}

export interface ChainLayout {
  /** From left to right, each column from top to bottom. */
  readonly tasks: readonly PlacedTask[]
  readonly edges: readonly PlacedEdge[]
  readonly width: number
  readonly height: number
}

interface Point {
  readonly x: number
  readonly y: number
}

/** Returns the layout of a chain: each task is to the right of its dependencies. */
export function layOutChain({ ids, edges }: Chain, heightOf: (id: string) => number): ChainLayout {
  const graph = new graphlib.Graph()
  graph.setGraph({
    rankdir: 'LR',
    ranksep: columnGap,
    nodesep: rowGap,
    edgesep: rowGap,
    marginx: margin,
    marginy: margin,
  })
  for (const id of ids.toSorted()) graph.setNode(id, { width: nodeWidth, height: heightOf(id) })
  for (const { from, to } of edges) graph.setEdge(from, to, {})
  layout(graph)
  const placed = new Map(
    ids.map((id) => {
      const { x, y } = graph.node(id) as Point
      const height = heightOf(id)
      return [id, { id, x: Math.round(x - nodeWidth / 2), y: Math.round(y - height / 2), height }]
    }),
  )
  const { width = 0, height = 0 } = graph.graph()
  return {
    tasks: [...placed.values()].toSorted((one, other) => one.x - other.x || one.y - other.y),
    edges: edges.flatMap((edge) => {
      const [from, to] = [placed.get(edge.from), placed.get(edge.to)]
      if (!from || !to) return []
      // Points alternate: every second one is in a column that the line crosses, the others are
      // between columns.
      const { points } = graph.edge(edge.from, edge.to) as { readonly points: readonly Point[] }
      const crossed = points.slice(1, -1).filter((_, index) => index % 2 === 1)
      return [{ ...edge, path: linePath(from, crossed, to) }]
    }),
    width: Math.ceil(width),
    height: Math.ceil(height),
  }
}

/** Returns the ID of the nearest task in the direction of the arrow key. */
export function taskBeside(tasks: readonly PlacedTask[], id: string, key: string): string | null {
  const at = tasks.find((task) => task.id === id)
  const side = sides[key]
  if (!at || !side) return null
  const middle = ({ y, height }: PlacedTask) => y + height / 2
  const found = tasks
    .map((task) => ({ id: task.id, along: task.x - at.x, across: middle(task) - middle(at) }))
    .filter((other) => other.id !== id && side(other))
    .toSorted((one, other) => far(one, key) - far(other, key))
  return found[0]?.id ?? null
}

interface Way {
  readonly along: number
  readonly across: number
}
const sides: Readonly<Record<string, (way: Way) => boolean>> = {
  ArrowLeft: ({ along }) => along < 0,
  ArrowRight: ({ along }) => along > 0,
  ArrowUp: ({ along, across }) => along === 0 && across < 0,
  ArrowDown: ({ along, across }) => along === 0 && across > 0,
}
/** Returns the distance, in which a column outweighs rows. */
const far = ({ along, across }: Way, key: string): number =>
  key === 'ArrowUp' || key === 'ArrowDown' ? Math.abs(across) : Math.abs(along) * 100 + Math.abs(across)

/**
 * Returns the path from the right of one task to the left of another, horizontal where it crosses a
 * column.
 */
function linePath(from: PlacedTask, crossed: readonly Point[], to: PlacedTask): string {
  let x = from.x + nodeWidth
  let y = from.y + from.height / 2
  let path = `M${x} ${y}`
  const curveTo = (nextX: number, nextY: number): void => {
    const half = (x + nextX) / 2
    path += `C${half} ${y} ${half} ${nextY} ${nextX} ${nextY}`
    y = nextY
  }
  for (const point of crossed) {
    curveTo(point.x - nodeWidth / 2, point.y)
    x = point.x + nodeWidth / 2
    path += `H${x}`
  }
  const end = { x: to.x - 1, y: to.y + to.height / 2 }
  curveTo(end.x, end.y)
  return `${path}m-5 -4l5 4l-5 4`
}
