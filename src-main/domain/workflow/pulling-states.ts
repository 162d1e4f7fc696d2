import type { WorkflowState } from '../../../src-shared/contract/workflow-definition.ts'
import type { Workflow } from './graph.ts'

/** A state that pulls, and the states from which tasks can come. */
export interface PullingState {
  readonly state: WorkflowState
  readonly sources: ReadonlySet<string>
}

/**
 * Returns the states that pull, the last first: a task that leaves one of them makes room in it. Tasks come from the
 * column before, except work in progress, which stays with its worker. A working state also pulls from the nearest
 * queue, because a claim skips states between them whose role has no holder, such as planning.
 */
export function pullingStates({ definition: { states } }: Pick<Workflow, 'definition'>): readonly PullingState[] {
  const columns = [...new Set(states.map(({ column }) => column))]
  const isQueue = ({ kind }: WorkflowState) => kind === 'backlog' || kind === 'initial'
  return states
    .filter(({ pulls }) => pulls === true)
    .map((state) => {
      const before = columns
        .slice(0, columns.indexOf(state.column))
        .map((column) => states.filter((one) => one.column === column && one.kind !== 'active'))
      const queue = state.kind === 'active' ? before.findLast((resting) => resting.some(isQueue)) : undefined
      const sources = [...(before.at(-1) ?? []), ...(queue?.filter(isQueue) ?? [])]
      return { state, sources: new Set(sources.map(({ name }) => name)) }
    })
    .toReversed()
}
