import type { Task } from '../../../../src-shared/contract/tasks.ts'
import { chainsAmong, ranksOf } from '../../../model/chains.ts'

/** A chain as one line. Tasks that can run in parallel are one step. */
export interface ChainLine {
  readonly key: string
  readonly projectId: string
  /** The finished tasks before the first shown step. */
  readonly finished: number
  readonly steps: readonly ChainStep[]
}

interface ChainStep {
  readonly tasks: readonly Task[]
  /** Whether the tasks are stacked on the branches of the step before. */
  readonly stacked: boolean
}

/** Returns every chain with unfinished tasks, oldest first. */
export function chainLines(tasks: readonly Task[], isOver: (task: Task) => boolean): readonly ChainLine[] {
  const byId = new Map<string, Task>(tasks.map((task) => [task.id, task]))
  const lines = chainsAmong(tasks).flatMap((chain): ChainLine[] => {
    const ranks = ranksOf(chain)
    const known = chain.ids.toSorted().flatMap((id) => byId.get(id) ?? [])
    const byRank = Map.groupBy(known, ({ id }) => ranks.get(id) ?? 0)
    const steps = [...byRank]
      .toSorted(([one], [other]) => one - other)
      .map(([, members]): ChainStep => {
        const into = chain.edges.filter(({ to }) => members.some(({ id }) => id === to))
        return { tasks: members, stacked: into.length > 0 && into.every(({ kind }) => kind === 'stack') }
      })
    const begun = steps.findIndex((step) => !step.tasks.every(isOver))
    const [first] = known
    if (begun < 0 || !first) return []
    const finished = steps.slice(0, begun).flatMap((step) => step.tasks).length
    return [{ key: first.id, projectId: first.project_id, finished, steps: steps.slice(begun) }]
  })
  return lines.toSorted((one, other) => (one.key < other.key ? -1 : 1))
}
