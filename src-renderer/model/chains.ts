import type { Task } from '../../src-shared/contract/tasks.ts'
import { shortId } from '../formatters/short-id.ts'

/**
 * An edge from a task to one that follows it: `to` waits until `from` is done, or its branch is
 * stacked on that of `from`.
 */
export interface ChainEdge {
  readonly from: string
  readonly to: string
  readonly kind: 'dependency' | 'stack'
}

/** Tasks that are connected by edges. */
export interface Chain {
  readonly ids: readonly string[]
  readonly edges: readonly ChainEdge[]
}

type Known = ReadonlyMap<string, Task>
type Linked = Pick<Task, 'id' | 'dependencies' | 'stacked_on'>

/**
 * Returns the edges that lead into a task. A task that is both stacked on and waited for counts as
 * a dependency, which lasts longer.
 */
function edgesInto({ id, dependencies, stacked_on }: Linked): readonly ChainEdge[] {
  const edges = dependencies.map((from): ChainEdge => ({ from, to: id, kind: 'dependency' }))
  const isStacked = stacked_on !== null && !dependencies.includes(stacked_on)
  return isStacked ? [...edges, { from: stacked_on, to: id, kind: 'stack' }] : edges
}

/** Returns the whole chain of a task in both directions, including the IDs of unknown tasks. */
export function chainOf(taskId: string, tasks: Iterable<Linked>): Chain {
  return connected([...tasks].flatMap(edgesInto), [taskId])[0] ?? { ids: [taskId], edges: [] }
}

/** Returns all chains of two or more of these tasks. */
export function chainsAmong(tasks: readonly Linked[]): readonly Chain[] {
  const ids = new Set<string>(tasks.map(({ id }) => id))
  const edges = tasks.flatMap(edgesInto).filter(({ from }) => ids.has(from))
  return connected(edges, new Set(edges.map(({ from }) => from)))
}

/** Returns for each task the length of the longest path that leads to it. */
export function ranksOf({ ids, edges }: Chain): ReadonlyMap<string, number> {
  const into = Map.groupBy(edges, ({ to }) => to)
  const ranks = new Map<string, number>()
  const open = new Set<string>()
  function rankOf(id: string): number {
    const known = ranks.get(id)
    if (known !== undefined) return known
    // Circles are impossible to create, but an existing one must not hang the page.
    if (open.has(id)) return 0
    open.add(id)
    const rank = Math.max(-1, ...(into.get(id) ?? []).map(({ from }) => rankOf(from))) + 1
    ranks.set(id, rank)
    return rank
  }
  for (const id of ids) rankOf(id)
  return ranks
}

/** Returns why `next` can't follow `first`; null if it can. */
export function whyNotAfter(first: Task, next: Task, known: Known, isOver: (task: Task) => boolean): string | null {
  if (first.id === next.id) return 'A task can’t wait for itself.'
  if (first.project_id !== next.project_id) return 'Tasks of different projects can’t wait for each other.'
  for (const task of [next, first]) if (isOver(task)) return `${task.ref} is already finished.`
  if (next.dependencies.includes(first.id)) return `${next.ref} already waits for ${first.ref}.`
  if (next.stacked_on === first.id) return `${next.ref} is already on top of ${first.ref}.`
  return comesAfter(first, next.id, known) ? `${first.ref} itself comes after ${next.ref}.` : null
}

/** Returns the tasks that contain all words of the query, the last changed first. */
export function findTasks(tasks: Iterable<Task>, query: string): Task[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  return [...tasks]
    .filter(({ archived, title, ref, id }) => {
      const text = `${title}\n${ref}\n${shortId(id)}`.toLowerCase()
      return !archived && words.every((word) => text.includes(word))
    })
    .sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1))
}

function comesAfter(task: Task, id: string, known: Known): boolean {
  const seen = new Set<string>()
  const open = edgesInto(task).map(({ from }) => from)
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (at === id) return true
    const next = known.get(at)
    if (seen.has(at) || !next) continue
    seen.add(at)
    open.push(...edgesInto(next).map(({ from }) => from))
  }
  return false
}

/** Returns the chains that contain these tasks. */
function connected(edges: readonly ChainEdge[], starts: Iterable<string>): readonly Chain[] {
  const beside = new Map<string, ChainEdge[]>()
  for (const edge of edges)
    for (const id of [edge.from, edge.to]) {
      const known = beside.get(id)
      if (known) known.push(edge)
      else beside.set(id, [edge])
    }
  const seen = new Set<string>()
  return [...starts].flatMap((start) => {
    if (seen.has(start) || !beside.has(start)) return []
    seen.add(start)
    // The loop appends to the list that it walks.
    const ids = [start]
    for (const id of ids)
      for (const { from, to } of beside.get(id) ?? []) {
        const other = from === id ? to : from
        if (!seen.has(other)) ids.push(other)
        seen.add(other)
      }
    return [{ ids, edges: ids.flatMap((id) => (beside.get(id) ?? []).filter(({ to }) => to === id)) }]
  })
}
