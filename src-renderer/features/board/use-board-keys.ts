import { computed, nextTick } from 'vue'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { toggled } from '../../model/board-filter.ts'
import { useCommandHandlers, type CommandHandler } from '../../stores/commands.ts'
import { useNavigation } from '../../stores/base/navigation.ts'
import { useSelection } from './selection.ts'
import { useTasks } from '../../stores/tasks/tasks.ts'
import type { TaskPlacement } from '../../stores/tasks/task-changes.ts'
import { fitsOnCard } from '../../model/asks.ts'
import { useOpenAsks } from '../../stores/asks.ts'
import { changesAreOff } from '../../formatters/changes-are-off.ts'
import { boardTakes, focusKind } from './board-keys.ts'
import { placementOf } from './group-tasks.ts'
import { provideNextAsk } from './next-ask.ts'
import { moveFocus, type Direction } from './moves/move-focus.ts'
import type { Board } from './use-board.ts'
import { useTaskFacts } from './cards/use-task-facts.ts'
import type { Moves } from './moves/use-moves.ts'
import type { CardAction } from './cards/use-card-actions.ts'

interface BoardKeyPorts {
  readonly board: Board
  readonly actions: (task: Task) => readonly CardAction[]
  focusCard(taskId: string): void
  place(task: Task, placement: TaskPlacement): Promise<void>
  openMenu(task: Task): void
  closeTask(): void
  moves: Pick<Moves, 'askAll' | 'bulk'>
  /** Returns the selected tasks in the shown order. */
  chosen(): readonly Task[]
  newTask(): void
  search(): void
  filter(): void
  /** Returns the ID of the task that is open beside the board. */
  panelTask(): string | null
  offline(): boolean
}

/** The tabs of a task that have keys. */
const tabs = ['overview', 'agent', 'changes', 'review', 'activity'] as const

/** Registers the shortcuts of the board while it is mounted. */
export function useBoardKeys(ports: BoardKeyPorts): void {
  const { board } = ports
  provideNextAsk(() => board.lanes.value.flatMap(({ cards }) => cards), ports.focusCard)
  const selection = useSelection()
  const focused = (): Task | null => board.taskOf(board.focusedId.value) ?? null
  const open = (): Task | null => board.taskOf(ports.panelTask()) ?? null

  function move(to: Direction): CommandHandler {
    return {
      accepts: takes('focus'),
      run: () => {
        const focusedId = document.activeElement?.closest('[data-card]') ? board.focusedId.value : null
        const next = moveFocus(board.lanes.value, focusedId, to)
        if (next !== null) ports.focusCard(focusedId === null ? (board.focusedId.value ?? next) : next)
      },
    }
  }
  function on(task: () => Task | null, id: string, accepts: CommandHandler['accepts']): CommandHandler {
    const action = () => {
      const known = task()
      return known && ports.actions(known).find((one) => one.id === id)
    }
    return {
      accepts: accepts ?? (() => false),
      on: () => {
        const known = task()
        return known && known.ref
      },
      task,
      refused: () => action()?.refused ?? null,
      run: () => void action()?.run(),
    }
  }
  /** Moves the focused card up or down by one in its column. */
  function step(by: 1 | -1): CommandHandler {
    const place = () => {
      const task = focused()
      const column = task && board.columns.value.find(({ cards }) => cards.some(({ id }) => id === task.id))
      const at = column?.cards.findIndex(({ id }) => id === task?.id) ?? -1
      return { task, column, next: column?.cards[at + by] }
    }
    return {
      accepts: takes('card'),
      on: () => focused()?.ref ?? null,
      refused: () => {
        if (ports.offline()) return changesAreOff
        if (board.view.value.layout === 'list') return 'Switch to the board first'
        const { column, next } = place()
        if (column?.terminal) return 'Finished tasks stand in the order in which they ended'
        return board.orderRefused.value ?? (next ? null : by === 1 ? 'It is the last one' : 'It is the first one')
      },
      run: () => {
        const { task, column, next } = place()
        if (!task || !column || !next) return
        const placement = placementOf(column.cards, task.id, next.id, by === 1 ? 'below' : 'above')
        if (placement) void ports.place(task, placement)
        void nextTick(() => ports.focusCard(task.id))
      },
    }
  }
  const onCard = (id: string) => on(focused, id, takes('card'))
  const order = () => board.lanes.value.flatMap(({ cards }) => cards.map(({ id }) => id as string))
  /** Selects the next card and focuses it. */
  function extend(to: Direction): CommandHandler {
    return {
      accepts: takes('card'),
      on: () => focused()?.ref ?? null,
      run: () => {
        const from = board.focusedId.value
        if (from === null) return
        if (!selection.has(from)) selection.toggle(from)
        const next = moveFocus(board.lanes.value, from, to)
        if (next === null) return
        if (to === 'up' || to === 'down') selection.extend(next, order())
        else if (!selection.has(next)) selection.toggle(next)
        ports.focusCard(next)
      },
    }
  }
  /** Runs `work` on all selected tasks. */
  function onAll(work: (tasks: readonly Task[]) => unknown): CommandHandler {
    return {
      accepts: takes('page'),
      on: () => {
        const { size } = selection.ids
        return size === 0 ? null : `${size} selected`
      },
      refused: () => (ports.offline() ? changesAreOff : null),
      run: () => void work(ports.chosen()),
    }
  }
  function back(): void {
    if (selection.ids.size > 0) return selection.clear()
    const shown = board.focusedId.value
    if (ports.panelTask() !== null) {
      ports.closeTask()
      if (shown !== null) ports.focusCard(shown)
    } else if (board.query.value !== '') board.search('')
    else if (board.found.value.length === 0) board.clear()
  }
  function toggleView(): void {
    board.show(board.view.value.layout === 'list' ? 'board' : 'list')
  }
  const onPage = { accepts: takes('page') }
  useCommandHandlers({
    left: move('left'),
    right: move('right'),
    up: move('up'),
    down: move('down'),
    raise: step(-1),
    lower: step(1),
    menu: { ...onCard('open'), run: () => withTask(focused(), ports.openMenu) },
    ...Object.fromEntries(
      ([...tabs, 'open', 'move', 'assign', 'start', 'after', 'stop', 'priority', 'label'] as const).map((id) => [
        id,
        onCard(id),
      ]),
    ),
    'pull-request': {
      ...onCard('pull-request'),
      on: () => (focused()?.pull_request == null ? null : (focused()?.ref ?? null)),
    },
    view: { run: toggleView },
    filter: { ...onPage, run: () => ports.filter() },
    'needs-you': { ...onPage, run: () => board.filter(toggled(board.view.value.filter, 'needs_you', 'yes')) },
    new: {
      ...onPage,
      refused: () => (ports.offline() ? changesAreOff : null),
      run: ports.newTask,
    },
    search: { ...onPage, run: ports.search },
    back: { accepts: (event) => boardTakes('page', focusKind(event.target), event.key), run: back },
  })
  useCommandHandlers({
    select: {
      accepts: takes('card'),
      on: () => focused()?.ref ?? null,
      run: () => withTask(focused(), ({ id }) => selection.toggle(id)),
    },
    'select-up': extend('up'),
    'select-down': extend('down'),
    'select-left': extend('left'),
    'select-right': extend('right'),
  })
  const { moves } = ports
  useCommandHandlers({
    start: onAll((all) => moves.askAll('start', all)),
    move: onAll((all) => moves.askAll('state', all)),
    label: onAll((all) => moves.askAll('labels', all)),
    priority: onAll((all) => moves.askAll('priority', all)),
    stop: onAll((all) => moves.bulk.stop(all)),
  })
  // The panel handles its own shortcuts; these open dialogs of the board.
  const ofOpen = (id: string) => on(open, id, (event) => inPanel(event.target) && takesAnywhere(event))
  useCommandHandlers({ assign: ofOpen('assign'), after: ofOpen('after') })
  useCommandHandlers({
    ...neighbours(ports),
    'next-needs-you': nextThatNeeds(ports),
  })
}

/** Open the previous or next task in the order that the board shows. */
function neighbours({ board, panelTask }: BoardKeyPorts): Record<'previous-task' | 'next-task', CommandHandler> {
  const navigation = useNavigation()
  const tasks = useTasks()
  // Kept, because the panel's buttons ask whenever a task is opened, and a board can have thousands.
  const order = computed(() => board.lanes.value.flatMap(({ cards }) => cards))
  const at = computed(() => {
    const id = panelTask()
    return id === null ? -1 : order.value.findIndex((task) => task.id === id)
  })
  const neighbour = (by: 1 | -1): CommandHandler => ({
    accepts: takesAnywhere,
    on: () => {
      const id = panelTask()
      return id && tasks.refOf(id)
    },
    refused: () => {
      if (at.value < 0) return 'This task isn’t on the board'
      return order.value[at.value + by] ? null : by === 1 ? 'This is the last task' : 'This is the first task'
    },
    run: () => {
      const next = order.value[at.value + by]
      if (!next) return
      const panel = document.activeElement?.closest<HTMLElement>('[data-task-panel]')
      board.focus(next.id)
      navigation.openTask(next.id, navigation.tab ?? undefined)
      // The focused element is removed with the task that was open.
      void nextTick(() => panel?.focus())
    },
  })
  return { 'previous-task': neighbour(-1), 'next-task': neighbour(1) }
}

/**
 * Goes to the next shown task that needs the user; after the last, continues from the first. A card
 * that shows all that its agent asks gets the focus, so its keys answer; any other task opens.
 */
function nextThatNeeds({ board, panelTask, focusCard }: BoardKeyPorts): CommandHandler {
  const navigation = useNavigation()
  const { factsOf } = useTaskFacts()
  const openAsk = useOpenAsks()
  const isOnCard = (task: Task): boolean => {
    const open = panelTask() === null ? openAsk(task) : null
    return open !== null && fitsOnCard(open.ask)
  }
  const next = (): Task | null => {
    const order = board.lanes.value.flatMap(({ cards }) => cards)
    const at = order.findIndex(({ id }) => id === (panelTask() ?? board.focusedId.value))
    const round = [...order.slice(at + 1), ...order.slice(0, Math.max(0, at))]
    return round.find((task) => factsOf(task).needsYou) ?? null
  }
  return {
    accepts: takesAnywhere,
    refused: () => (next() === null ? 'Nothing else here needs you' : null),
    run: () => {
      const task = next()
      if (task === null) return
      board.focus(task.id)
      if (isOnCard(task)) return focusCard(task.id)
      navigation.openTask(task.id, navigation.tab ?? undefined)
      // The focused element may be removed with the task that was open.
      void nextTick(() => document.querySelector<HTMLElement>('[data-task-panel]')?.focus())
    },
  }
}

function withTask(task: Task | null, run: (task: Task) => void): void {
  if (task) run(task)
}
const inPanel = (target: EventTarget | null) =>
  target === document.body || (target instanceof Element && target.closest('[data-task-panel]') !== null)
const takesAnywhere = (event: KeyboardEvent) => boardTakes('page', focusKind(event.target), event.key)

/** Returns whether the board handles the key press. Inside the task panel only the panel does. */
function takes(kind: 'card' | 'focus' | 'page'): (event: KeyboardEvent) => boolean {
  return (event) => {
    const isInPanel = event.target instanceof Element && event.target.closest('[data-task-panel]') !== null
    return !isInPanel && boardTakes(kind, focusKind(event.target), event.key)
  }
}
