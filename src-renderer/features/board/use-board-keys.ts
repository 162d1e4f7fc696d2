import type { Task } from '../../../src-shared/contract/tasks.ts'
import { shortId } from '../../composables/short-id.ts'
import { useCommandHandlers, type CommandHandler } from '../../stores/commands.ts'
import { useExecutions } from '../../stores/executions.ts'
import { useToasts } from '../../stores/toasts.ts'
import { boardTakes, focusKind } from './board-keys.ts'
import { moveFocus, type Direction } from './move-focus.ts'
import type { Board } from './use-board.ts'
import type { Moves } from './use-moves.ts'

interface BoardKeyPorts {
  readonly board: Board
  readonly moves: Moves
  focusCard(taskId: string): void
  openMenu(task: Task): void
  openTask(taskId: string, tab?: string): void
  closeTask(): void
  newTask(): void
  search(): void
  panelOpen(): boolean
  offline(): boolean
}

/** The board's commands, while it is on screen. */
export function useBoardKeys(ports: BoardKeyPorts): void {
  const executions = useExecutions()
  const toasts = useToasts()
  const focused = (): Task | null => ports.board.taskOf(ports.board.focusedId.value) ?? null

  function move(to: Direction): CommandHandler {
    return {
      accepts: takes('focus'),
      run: () => {
        const visible = ports.board.columns.value.filter((column) => !ports.board.isShut(column))
        const focusedId = document.activeElement?.closest('[data-card]') ? ports.board.focusedId.value : null
        const next = moveFocus(visible, focusedId ?? null, to)
        if (next !== null) ports.focusCard(focusedId === null ? (ports.board.focusedId.value ?? next) : next)
      },
    }
  }
  function onCard(run: (task: Task) => void, refused: (task: Task) => string | null = () => null): CommandHandler {
    return {
      accepts: takes('card'),
      on: () => {
        const task = focused()
        return task && shortId(task.id)
      },
      refused: () => {
        const task = focused()
        return task && refused(task)
      },
      run: () => {
        const task = focused()
        if (task) run(task)
      },
    }
  }
  function stop(task: Task): void {
    if (task.active_execution_id === null) return
    executions
      .stop(task.active_execution_id)
      .catch((error: unknown) => toasts.refused(error, `“${task.title}” still runs.`))
  }
  function back(): void {
    const open = ports.board.focusedId.value
    if (ports.panelOpen()) {
      ports.closeTask()
      if (open !== null) ports.focusCard(open)
    } else if (ports.board.query.value !== '') ports.board.clearSearch()
  }
  const offline = (): string | null => (ports.offline() ? 'Changes are off until the connection is back' : null)
  useCommandHandlers({
    left: move('left'),
    right: move('right'),
    up: move('up'),
    down: move('down'),
    open: onCard((task) => ports.openTask(task.id)),
    changes: onCard((task) => ports.openTask(task.id, 'changes')),
    review: onCard((task) => ports.openTask(task.id, 'review')),
    menu: onCard((task) => ports.openMenu(task)),
    move: onCard((task) => void ports.moves.askMove(task), offline),
    start: onCard(
      (task) => void ports.moves.start(task),
      (task) => offline() ?? (task.active_execution_id === null ? null : 'Somebody is already working on it'),
    ),
    stop: onCard(stop, (task) => offline() ?? (task.active_execution_id === null ? 'Nothing is running' : null)),
    new: { accepts: takes('page'), refused: offline, run: ports.newTask },
    search: { accepts: takes('page'), run: ports.search },
    back: { accepts: (event) => boardTakes('page', focusKind(event.target), event.key), run: back },
  })
}

/** Inside the task panel keys are the panel's. */
function takes(kind: 'card' | 'focus' | 'page'): (event: KeyboardEvent) => boolean {
  return (event) => {
    const inPanel = event.target instanceof Element && event.target.closest('[data-task-panel]') !== null
    return !inPanel && boardTakes(kind, focusKind(event.target), event.key)
  }
}
