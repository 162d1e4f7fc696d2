import { nextTick, watch, type Ref } from 'vue'

/** What is used of the list, a `ListboxRoot` with a filter. */
interface List {
  readonly highlightedElement: HTMLElement | null
  readonly getItems: () => { readonly ref: HTMLElement }[]
  readonly highlightFirstItem: () => void
}

/**
 * What comes after its words were typed is walked like what was there: from the first, which Enter chooses. Whoever has
 * gone on to another row stays on it. Before anything is typed nothing is highlighted.
 *
 * @param first names what stands first, undefined where nothing is found
 */
export function useHighlightFirst(
  list: Readonly<Ref<List | null>>,
  typed: Readonly<Ref<string>>,
  first: () => string | undefined,
): void {
  // Before what is new is drawn.
  watch(first, async () => {
    if (typed.value === '') return
    const drawn = list.value?.getItems() ?? []
    if (drawn.length > 0 && drawn[0]?.ref !== list.value?.highlightedElement) return
    await nextTick()
    list.value?.highlightFirstItem()
  })
}
