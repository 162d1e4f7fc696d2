import { useElementBounding } from '@vueuse/core'
import { onScopeDispose, watchEffect, type Ref } from 'vue'

/** The distance from the page's left edge to the right end of toasts, in pixels. */
const toastEndPx = 16 + 420

/** Keeps toasts above an element at the bottom of the page while it overlaps their corner. */
export function useToastRoom(element: Readonly<Ref<HTMLElement | null>>): void {
  const { left, top, height } = useElementBounding(element)
  const { style } = document.documentElement
  watchEffect(() => {
    const isInTheWay = height.value > 0 && left.value < toastEndPx
    if (isInTheWay) style.setProperty('--toast-bottom', `${Math.round(window.innerHeight - top.value) + 8}px`)
    else style.removeProperty('--toast-bottom')
  })
  onScopeDispose(() => style.removeProperty('--toast-bottom'))
}
