import { shallowRef, type InjectionKey, type ShallowRef } from 'vue'
import type { Task, TaskMove } from '../../../../src-shared/contract/tasks.ts'
import { columnIn, type BoardColumnShape } from '../../../model/workflow-shape.ts'
import type { TaskPlacement } from '../../../stores/tasks/task-changes.ts'
import { verdictOf, type DropTarget } from './column-moves.ts'
import { placementOf, type BoardColumnModel } from '../group-tasks.ts'

/** A drag under way. `moves` is null until the service has said where the task may go. */
interface DragState {
  readonly task: Task
  readonly moves: readonly TaskMove[] | null
}

export interface BoardDrag {
  readonly state: Readonly<ShallowRef<DragState | null>>
  /** Asks for the moves when the pointer goes down, so that they are there when the card lifts. */
  prepare(task: Task): void
  begin(task: Task): void
  end(): void
  /** Whether the dragged card stands in this column, where it can be put elsewhere. */
  canPlaceIn(column: BoardColumnModel): boolean
  /** What dropping on the column would do; null while the service has not answered, or nothing is dragged. */
  verdict(column: BoardColumnShape): DropTarget | null
  /** `slot`: between which cards of its own column. */
  drop(column: BoardColumnModel, slot?: CardSlot | null): Promise<void>
}

export const boardDragKey: InjectionKey<BoardDrag> = Symbol('board drag')

/** The edge of a card at which another would go. */
export interface CardSlot {
  readonly taskId: string
  readonly edge: 'above' | 'below'
}

interface DragPorts {
  /** Whether cards are put in order by hand. */
  ordered(): boolean
  place(task: Task, placement: TaskPlacement): Promise<void>
  moves(taskId: string): Promise<readonly TaskMove[]>
  perform(task: Task, move: TaskMove): Promise<void>
  refused(task: Task, reason: string): void
  failed(task: Task, error: unknown): void
}

/** Dragging cards between columns: the service says where to, the drop does what the move names. */
export function createBoardDrag(ports: DragPorts): BoardDrag {
  const state = shallowRef<DragState | null>(null)
  /** Outlives `state`: the card hears of the drop before the column does. */
  let carried: Task | null = null
  let asked: { readonly taskId: string; readonly moves: Promise<readonly TaskMove[]> } | null = null

  function ask(task: Task): Promise<readonly TaskMove[]> {
    const moves = ports.moves(task.id)
    // The drop awaits the same promise and reports the failure; here it only must not go unheard.
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
