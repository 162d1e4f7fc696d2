import { monitorForElements, type ElementEventBasePayload } from '@atlaskit/pragmatic-drag-and-drop/element/adapter'
import { onBeforeUnmount, provide, shallowRef, type InjectionKey, type ShallowRef } from 'vue'
import type { Task } from '../../../../src-shared/contract/tasks.ts'
import { useChains } from '../../../stores/chains.ts'
import { useToasts } from '../../../stores/base/toasts.ts'

/** The drag of a card's handle onto the card that follows it. */
export interface ChainDrag {
  /** The task that comes first and the start of the line. */
  readonly from: Readonly<ShallowRef<ChainStart | null>>
  /** The pointer position and the task below it. */
  readonly at: Readonly<ShallowRef<ChainPoint & { readonly over: Task | null }>>
  begin(from: ChainStart): void
  /**
   * Returns the reason why a task can't come after the dragged one; null if it can or nothing is
   * dragged.
   */
  refusal(next: Task): string | null
  drop(first: Task, next: Task): void
  /** Opens the dialog that picks the following task. */
  choose(first: Task): void
}

interface ChainPoint {
  readonly x: number
  readonly y: number
}
interface ChainStart extends ChainPoint {
  readonly task: Task
}

export const chainDragKey: InjectionKey<ChainDrag> = Symbol('chain drag')

/** Provides the chain drag. `ask` opens the dialog; with `next` null it asks for that task too. */
export function provideChainDrag(ask: (first: Task, next: Task | null) => void): void {
  const { refusal } = useChains()
  const toasts = useToasts()
  const from = shallowRef<ChainStart | null>(null)
  const at = shallowRef<ChainDrag['at']['value']>({ x: 0, y: 0, over: null })

  function follow({ location }: ElementEventBasePayload): void {
    const { input, dropTargets } = location.current
    at.value = { x: input.clientX, y: input.clientY, over: (dropTargets[0]?.data['next'] as Task | undefined) ?? null }
  }
  // Listens on the document: the card may scroll out or change its column during the drag.
  const release = monitorForElements({
    canMonitor: ({ source }) => source.data['chained'] !== undefined,
    onDrag: follow,
    onDropTargetChange: follow,
    onDrop: () => (from.value = null),
  })
  onBeforeUnmount(release)
  provide(chainDragKey, {
    from,
    at,
    begin(start) {
      at.value = { x: start.x, y: start.y, over: null }
      from.value = start
    },
    refusal: (next) => from.value && refusal(from.value.task, next),
    drop(first, next) {
      // Dropped on its own card, so cancel.
      if (first.id === next.id) return
      const reason = refusal(first, next)
      if (reason === null) ask(first, next)
      else toasts.warn(reason)
    },
    choose: (first) => ask(first, null),
  })
}
