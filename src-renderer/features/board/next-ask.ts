import { provide, type InjectionKey } from 'vue'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { fitsOnCard } from '../../model/asks.ts'
import { useOpenAsks } from '../../stores/asks.ts'

/** Focuses the next card whose agent asks something, after the one of this task. */
export const nextAskKey: InjectionKey<(after: Task) => void> = Symbol('next ask')

/** Lets the cards of a board hand the focus to the next one that asks; after the last comes the first. */
export function provideNextAsk(shown: () => readonly Task[], focusCard: (taskId: string) => void): void {
  const openAsk = useOpenAsks()
  provide(nextAskKey, ({ id }) => {
    const order = shown()
    const at = order.findIndex((task) => task.id === id)
    const round = [...order.slice(at + 1), ...order.slice(0, Math.max(0, at))]
    const next = round.find((task) => {
      const open = openAsk(task)
      return open !== null && fitsOnCard(open.ask)
    })
    if (next) focusCard(next.id)
  })
}
