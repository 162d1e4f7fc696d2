import { useElementBounding, useWindowSize } from '@vueuse/core'
import { computed, onScopeDispose, shallowReactive, type ComputedRef, type Ref } from 'vue'

/** The greatest width of a toast, and its distance from what it keeps clear of, in pixels. */
const toastWidthPx = 420
const gapPx = 8
const edgePx = 16

interface Box {
  readonly left: number
  readonly right: number
  readonly top: number
}

/** Where the elements are that toasts may not cover. */
const sides = shallowReactive(new Set<ComputedRef<Box | null>>())
const bars = shallowReactive(new Set<ComputedRef<Box | null>>())

function keepClear(all: Set<ComputedRef<Box | null>>, element: Readonly<Ref<HTMLElement | null | undefined>>): void {
  // Not at once, which would lay out the page before its frame: its observer tells within that.
  const { left, right, top, height } = useElementBounding(element, { immediate: false })
  const box = computed(() => (height.value > 0 ? { left: left.value, right: right.value, top: top.value } : null))
  all.add(box)
  onScopeDispose(() => all.delete(box))
}

/** Keeps toasts above an element that reaches into their corner: a bar at the foot of the page, or a dialog. */
export const useToastRoom = (element: Readonly<Ref<HTMLElement | null | undefined>>): void => keepClear(bars, element)

/** Keeps toasts to the right of an element at the left edge of the page. */
export const useToastRoomBeside = (element: Readonly<Ref<HTMLElement | null | undefined>>): void =>
  keepClear(sides, element)

/** The distance of toasts from the left and the bottom of the page. */
export function useToastCorner(): ComputedRef<{ readonly left: string; readonly bottom: string }> {
  const { height } = useWindowSize()
  const boxes = (all: ReadonlySet<ComputedRef<Box | null>>) => [...all].flatMap((box) => box.value ?? [])
  return computed(() => {
    const start = Math.max(0, ...boxes(sides).map(({ right }) => right)) + edgePx
    const above = boxes(bars).filter(({ left, right }) => left < start + toastWidthPx && right > start)
    const bottom = Math.max(edgePx, ...above.map(({ top }) => height.value - top + gapPx))
    return { left: `${Math.round(start)}px`, bottom: `${Math.round(bottom)}px` }
  })
}
