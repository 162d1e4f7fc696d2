import { draggable, dropTargetForElements } from '@atlaskit/pragmatic-drag-and-drop/element/adapter'
import { onBeforeUnmount, onMounted, ref, type Ref } from 'vue'

interface DragPlace {
  readonly event: string
  readonly key: string
}

export interface HookDragOptions {
  readonly row: Readonly<Ref<HTMLElement | null>>
  readonly handle: Readonly<Ref<HTMLElement | null>>
  place(): DragPlace
  /** Called when another hook of the event was dropped above or below this one. */
  dropped(key: string, side: 'above' | 'below'): void
}

/** Makes a hook draggable by its handle within its event. */
export function useHookDrag({ row, handle, place, dropped }: HookDragOptions) {
  /** The side of this row at which the dragged one would be inserted. */
  const side = ref<'above' | 'below' | null>(null)
  const lifted = ref(false)
  let release: readonly (() => void)[] = []

  function sideOf(element: Element, pointer: number): 'above' | 'below' {
    const { top, height } = element.getBoundingClientRect()
    return pointer < top + height / 2 ? 'above' : 'below'
  }
  onMounted(() => {
    if (!row.value || !handle.value) return
    release = [
      draggable({
        element: row.value,
        dragHandle: handle.value,
        getInitialData: () => ({ ...place() }),
        onDragStart: () => (lifted.value = true),
        onDrop: () => (lifted.value = false),
      }),
      dropTargetForElements({
        element: row.value,
        canDrop: ({ source }) => source.data['event'] === place().event && source.data['key'] !== place().key,
        onDrag: ({ self, location }) => (side.value = sideOf(self.element, location.current.input.clientY)),
        onDragLeave: () => (side.value = null),
        onDrop: ({ self, source, location }) => {
          side.value = null
          const key = source.data['key']
          if (typeof key === 'string') dropped(key, sideOf(self.element, location.current.input.clientY))
        },
      }),
    ]
  })
  onBeforeUnmount(() => release.forEach((end) => end()))
  return { side, lifted }
}
