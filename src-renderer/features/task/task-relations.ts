import type { Task } from '../../../src-shared/contract/tasks.ts'
import { shortId } from '../../formatters/short-id.ts'

/** The tasks made as parts of a task, in the order in which they were written. */
export function subtasksOf(taskId: string, all: Iterable<Task>): Task[] {
  return [...all].filter(({ parent_id }) => parent_id === taskId).sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** The tasks that wait for a task. */
export function dependentsOf(taskId: string, all: Iterable<Task>): Task[] {
  return [...all].filter(({ dependencies }) => dependencies.some((id) => id === taskId))
}

/** The tasks that a task could wait for, best match first: of its project, not itself, none that waits for it. */
export function possibleDependencies(task: Task, all: Iterable<Task>, query: string): Task[] {
  const known = new Map([...all].map((other) => [other.id as string, other]))
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  return [...known.values()]
    .filter((other) => other.project_id === task.project_id && other.id !== task.id && !other.archived)
    .filter(({ id }) => !task.dependencies.includes(id))
    .filter((other) => {
      const text = `${other.title}\n${other.ref}\n${shortId(other.id)}`.toLowerCase()
      return words.every((word) => text.includes(word))
    })
    .filter((other) => !waitsFor(other, task.id, known))
    .sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1))
}

/** The lines from each of `left` boxes to the middle, and on to each of `right`, as the paths of a picture. */
export function edgePaths(
  count: number,
  height: number,
  step: number,
  into: 'left' | 'right',
  width: number,
): string[] {
  const middle = height / 2
  const top = (height - count * step) / 2
  return Array.from({ length: count }, (_, index) => {
    const y = top + (index + 0.5) * step
    const [from, to] = into === 'right' ? [y, middle] : [middle, y]
    return `M0 ${from}C${width / 2} ${from} ${width / 2} ${to} ${width} ${to}`
  })
}

function waitsFor(task: Task, taskId: string, known: ReadonlyMap<string, Task>): boolean {
  const seen = new Set<string>()
  const open: string[] = [...task.dependencies]
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (id === taskId) return true
    if (seen.has(id)) continue
    seen.add(id)
    open.push(...(known.get(id)?.dependencies ?? []))
  }
  return false
}
