import { shallowRef, type InjectionKey, type ShallowRef } from 'vue'
import type { Task, TaskMove } from '../../../../src-shared/contract/tasks.ts'
import { columnIn, type BoardColumnShape } from '../../../model/workflow-shape.ts'
import type { TaskPlacement } from '../../../stores/tasks/task-changes.ts'
import { verdictOf, type DropTarget } from './column-moves.ts'
import { placementOf, type BoardColumnModel } from '../group-tasks.ts'

/** The current drag. `moves` is null until the service has answered. */
interface DragState {
  readonly task: Task
  readonly moves: readonly TaskMove[] | null
}

export interface BoardDrag {
  readonly state: Readonly<ShallowRef<DragState | null>>
  /** Requests the moves on pointer down, so that they are loaded when the drag starts. */
  prepare(task: Task): void
  begin(task: Task): void
  end(): void
  /** Returns whether the dragged card is in this column and can be reordered. */
  canPlaceIn(column: BoardColumnModel): boolean
  /** Returns the effect of a drop; null while the moves load or nothing is dragged. */
  verdict(column: BoardColumnShape): DropTarget | null
  /** Drops the card; `slot` is its position in its own column. */
  drop(column: BoardColumnModel, slot?: CardSlot | null): Promise<void>
}

export const boardDragKey: InjectionKey<BoardDrag> = Symbol('board drag')

/** The edge of a card at which the dragged one is inserted. */
export interface CardSlot {
  readonly taskId: string
  readonly edge: 'above' | 'below'
}

interface DragPorts {
  /** Returns whether cards are ordered by hand. */
  ordered(): boolean
  place(task: Task, placement: TaskPlacement): Promise<void>
  moves(taskId: string): Promise<readonly TaskMove[]>
  perform(task: Task, move: TaskMove): Promise<void>
  refused(task: Task, reason: string): void
  failed(task: Task, error: unknown): void
}

/** Creates the drag of cards between columns. The service returns the moves, the drop performs one. */
export function createBoardDrag(ports: DragPorts): BoardDrag {
  const state = shallowRef<DragState | null>(null)
  /** Outlives `state`, because the card receives the drop before the column. */
  let carried: Task | null = null
  let asked: { readonly taskId: string; readonly moves: Promise<readonly TaskMove[]> } | null = null

  function ask(task: Task): Promise<readonly TaskMove[]> {
    const moves = ports.moves(task.id)
    // Prevents an unhandled rejection; drop() awaits the same promise and reports the error.
    moves.catch(() => undefined)
    asked = { taskId: task.id, moves }
    return moves
  }
  const isOwn = (column: BoardColumnModel, task: Task) =>
    columnIn(column, task.project_id).states.some(({ name }) => name === task.status)
  const canPlace = (column: BoardColumnModel, task: Task) => ports.ordered() && !column.terminal && isOwn(column, task)
  const movesOf = (task: Task) => (asked?.taskId === task.id ? asked.moves : ask(task))

  return {
    state,
    prepare: (task) => void ask(task),
    begin(task) {
      carried = task
      state.value = { task, moves: null }
      movesOf(task).then(
        (moves) => {
          if (state.value?.task.id === task.id) state.value = { task, moves }
        },
        () => undefined,
      )
    },
    end: () => (state.value = null),
    canPlaceIn: (column) => state.value !== null && canPlace(column, state.value.task),
    verdict(column) {
      const dragged = state.value
      if (!dragged?.moves) return null
      return verdictOf(columnIn(column, dragged.task.project_id), dragged.task.status, dragged.moves)
    },
    async drop(column, slot = null) {
      const task = carried
      carried = null
      state.value = null
      if (!task) return
      if (isOwn(column, task)) {
        const placement =
          slot && canPlace(column, task) ? placementOf(column.cards, task.id, slot.taskId, slot.edge) : null
        asked = null
        if (placement) await ports.place(task, placement)
        return
      }
      try {
        const verdict = verdictOf(columnIn(column, task.project_id), task.status, await movesOf(task))
        if (verdict.kind === 'allowed') await ports.perform(task, verdict.move)
        if (verdict.kind === 'refused') ports.refused(task, verdict.reason)
      } catch (error) {
        ports.failed(task, error)
      } finally {
        asked = null
      }
    },
  }
}
