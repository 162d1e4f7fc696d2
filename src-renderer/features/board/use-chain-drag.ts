import { provide, shallowRef, type InjectionKey, type ShallowRef } from 'vue'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { useChains } from '../../stores/chains.ts'
import { useToasts } from '../../stores/toasts.ts'

/** The drag of a card's handle onto the card that comes after it. */
export interface ChainDrag {
  /** The task that comes first, and where its line begins. */
  readonly from: ShallowRef<ChainStart | null>
  /** Where the pointer is, and over which task. */
  readonly at: ShallowRef<ChainPoint & { readonly over: Task | null }>
  /** Why a task can't come after it; null where it can, or while nothing is dragged. */
  refusal(next: Task): string | null
  drop(first: Task, next: Task): void
  /** Chooses the task that comes after it instead. */
  choose(first: Task): void
}

interface ChainPoint {
  readonly x: number
  readonly y: number
}
export interface ChainStart extends ChainPoint {
  readonly task: Task
}

export const chainDragKey: InjectionKey<ChainDrag> = Symbol('chain drag')

/** `ask`: how the one comes after the other, and first which, where that is null. */
export function provideChainDrag(ask: (first: Task, next: Task | null) => void): void {
  const { refusal } = useChains()
  const toasts = useToasts()
  const from: ChainDrag['from'] = shallowRef(null)
  provide(chainDragKey, {
    from,
    at: shallowRef({ x: 0, y: 0, over: null }),
    refusal: (next) => from.value && refusal(from.value.task, next),
    drop(first, next) {
      // Let go where it was: nothing is to come of it.
      if (first.id === next.id) return
      const reason = refusal(first, next)
      if (reason === null) ask(first, next)
      else toasts.warn(reason)
    },
    choose: (first) => ask(first, null),
  })
}
