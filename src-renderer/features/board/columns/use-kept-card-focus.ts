import { useEventListener } from '@vueuse/core'
import { nextTick, watch } from 'vue'
import type { Board } from '../use-board.ts'

/**
 * Keeps the focus on a card that moves to another column and is rendered as another element, if it
 * had the keyboard focus or a dialog asked about it.
 */
export function useKeptCardFocus(board: Board, cardOf: (taskId: string) => HTMLElement | null | undefined): void {
  let hadFocus = false
  const onFocus = ({ target }: FocusEvent) => {
    if (!(target instanceof Element) || target.closest('[role="dialog"], [role="menu"]')) return
    hadFocus = target.closest('[data-card]') !== null
  }
  watch(
    board.columns,
    async () => {
      if (!hadFocus) return
      await nextTick()
      const id = board.focusedId.value
      if (document.activeElement === document.body && id !== null) cardOf(id)?.focus({ preventScroll: true })
    },
    { flush: 'post' },
  )
  useEventListener(document, 'focusin', onFocus)
}
