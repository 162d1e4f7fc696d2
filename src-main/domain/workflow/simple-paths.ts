/** A graph of numbered nodes; no edge is in it twice. */
export interface Graph {
  readonly next: readonly (readonly number[])[]
  readonly previous: readonly (readonly number[])[]
}

/** Work that may still be done, in looks at a node or an edge: what bounds the time, whatever the graph. */
export interface Budget {
  left: number
}

export interface PathSearch {
  readonly graph: Graph
  readonly start: number
  /** Whether a path may end here; the search continues from an end with outgoing edges. */
  readonly isEnd: (node: number) => boolean
  /** Nodes below are left out. */
  readonly least: number
  readonly limit: number
  readonly budget: Budget
}

interface Partial {
  readonly node: number
  readonly before: Partial | null
  readonly length: number
}

/** Builds a graph from the targets of each node. */
export function graphOf(targets: readonly (readonly number[])[]): Graph {
  const next = targets.map((list) => [...new Set(list)])
  const previous: number[][] = targets.map(() => [])
  for (const [from, list] of next.entries()) for (const to of list) previous[to]?.push(from)
  return { next, previous }
}

/**
 * The simple paths from `start` to an end, the shorter ones first, and among equals the ones that
 * follow the earlier edges. Every partial path that is kept leads to an end without crossing itself,
 * so that the work grows with what is found, not with what is tried.
 */
export function simplePaths(search: PathSearch): readonly (readonly number[])[] {
  const { graph, start, isEnd, limit, budget } = search
  const found: (readonly number[])[] = []
  const distance = new Int32Array(graph.next.length)
  const onPath = new Uint8Array(graph.next.length)
  /** Waiting partial paths by the length of the shortest whole path that they lead to. */
  const waiting: Partial[][] = []
  const wait = (partial: Partial, total: number) => {
    for (let at = waiting.length; at <= total; at++) waiting.push([])
    waiting[total]?.push(partial)
  }
  measure(search, [], [...graph.next.keys()], onPath, distance)
  const atFirst = distance.slice()
  if ((distance[start] ?? -1) < 0) return found
  wait({ node: start, before: null, length: 1 }, 1 + (distance[start] ?? 0))
  for (let total = 0; total < waiting.length; total++) {
    for (let partial = waiting[total]?.pop(); partial; partial = waiting[total]?.pop()) {
      if (budget.left <= 0) return found
      const path = nodesOf(partial)
      budget.left -= path.length
      const ends = isEnd(partial.node)
      if (ends) {
        found.push(path)
        if (found.length >= limit) return found
      }
      const length = partial.length + 1
      const ahead = aheadOf(search, path, atFirst)
      // An only way on leads to an end, because this partial path does.
      if (!ends && ahead.length === 1) wait({ node: ahead[0] ?? 0, before: partial, length }, total)
      if (ahead.length < (ends ? 1 : 2)) continue
      measure(search, path, ahead, onPath, distance)
      // In reverse, because the last one that waits is taken first.
      for (const node of ahead.reverse()) {
        const rest = distance[node] ?? -1
        if (rest >= 0) wait({ node, before: partial, length }, length + rest)
      }
    }
  }
  return found
}

/** Where the last node of a path leads without crossing the path; not to where no end can be reached at all. */
function aheadOf({ graph, least, budget }: PathSearch, path: readonly number[], distance: Int32Array): number[] {
  const crossed = new Set(path)
  const next = graph.next[path.at(-1) ?? -1] ?? []
  budget.left -= next.length
  return next.filter((node) => node >= least && (distance[node] ?? -1) >= 0 && !crossed.has(node))
}

/**
 * How far each of the wanted nodes is from an end when the path so far may not be crossed; -1 where
 * none can be reached. It looks no further once all are known.
 */
function measure(
  { graph, isEnd, least, budget }: PathSearch,
  path: readonly number[],
  wanted: readonly number[],
  onPath: Uint8Array,
  distance: Int32Array,
): void {
  distance.fill(-1)
  onPath.fill(0)
  for (const node of path) onPath[node] = 1
  const missing = new Set(wanted)
  const open: number[] = []
  const reach = (node: number, far: number) => {
    distance[node] = far
    missing.delete(node)
    open.push(node)
  }
  budget.left -= graph.next.length
  for (let node = least; node < graph.next.length; node++) if (onPath[node] === 0 && isEnd(node)) reach(node, 0)
  for (let at = 0; at < open.length && missing.size > 0; at++) {
    const node = open[at] ?? 0
    const before = graph.previous[node] ?? []
    const far = (distance[node] ?? 0) + 1
    budget.left -= before.length
    for (const other of before) {
      if (other >= least && onPath[other] === 0 && (distance[other] ?? 0) < 0) reach(other, far)
    }
  }
}

function nodesOf(partial: Partial): readonly number[] {
  const nodes: number[] = []
  for (let at: Partial | null = partial; at; at = at.before) nodes.push(at.node)
  return nodes.reverse()
}
