import { onBeforeUnmount, onMounted } from 'vue'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { useExecutions } from '../../stores/executions.ts'
import { useToasts } from '../../stores/toasts.ts'
import { boardCommand, focusKind, type BoardCommand } from './board-keys.ts'
import { moveFocus } from './move-focus.ts'
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

/** The board's shortcuts, while it is on screen. */
export function useBoardKeys(ports: BoardKeyPorts): void {
  const executions = useExecutions()
  const toasts = useToasts()

  function onKey(event: KeyboardEvent): void {
    if (event.defaultPrevented) return
    const target = event.target
    const inPanel = target instanceof Element && target.closest('[data-task-panel]') !== null
    const command = boardCommand(event, inPanel && event.key !== 'Escape' ? panelKind(target) : focusKind(target))
    if (!command) return
    event.preventDefault()
    run(command)
  }
  /** Inside the panel only the keys that concern the whole board are the board's. */
  function panelKind(target: EventTarget | null): 'text' | 'overlay' {
    return focusKind(target) === 'text' ? 'text' : 'overlay'
  }
  function run(command: BoardCommand): void {
    if (command.kind === 'focus') {
      const visible = ports.board.columns.value.filter((column) => !ports.board.isShut(column))
      const focused = document.activeElement?.closest('[data-card]') ? ports.board.focusedId.value : null
      const next = moveFocus(visible, focused ?? null, command.to)
      if (next !== null) ports.focusCard(focused === null ? (ports.board.focusedId.value ?? next) : next)
      return
    }
    if (command.kind === 'new') return ports.newTask()
    if (command.kind === 'search') return ports.search()
    if (command.kind === 'back') return back()
    const task = ports.board.taskOf(ports.board.focusedId.value)
    if (task) act(command.kind, task)
  }
  function act(kind: Exclude<BoardCommand['kind'], 'focus' | 'new' | 'search' | 'back'>, task: Task): void {
    if (kind === 'open') return ports.openTask(task.id)
    if (kind === 'changes') return ports.openTask(task.id, 'changes')
    if (kind === 'review') return ports.openTask(task.id, 'review')
    if (kind === 'menu') return ports.openMenu(task)
    if (ports.offline()) return
    if (kind === 'move') void ports.moves.askMove(task)
    else if (kind === 'start') {
      if (task.active_execution_id === null) void ports.moves.start(task)
    } else if (task.active_execution_id !== null) {
      executions
        .stop(task.active_execution_id)
        .catch((error: unknown) => toasts.refused(error, `“${task.title}” still runs.`))
    }
  }
  function back(): void {
    const open = ports.board.focusedId.value
    if (ports.panelOpen()) {
      ports.closeTask()
      if (open !== null) ports.focusCard(open)
    } else if (ports.board.query.value !== '') ports.board.clearSearch()
  }
  onMounted(() => window.addEventListener('keydown', onKey))
  onBeforeUnmount(() => window.removeEventListener('keydown', onKey))
}
