import { nextTick, watch, type Ref } from 'vue'

/** The used part of a `ListboxRoot` with a filter. */
interface List {
  readonly highlightedElement: HTMLElement | null
  readonly getItems: () => { readonly ref: HTMLElement }[]
  readonly highlightFirstItem: () => void
}

/**
 * Highlights the first result when results change after typing, so Enter chooses it. Keeps the
 * highlight if the user has moved it to another row. Highlights nothing before the user types.
 *
 * @param first returns the key of the first result, undefined without results
 */
export function useHighlightFirst(
  list: Readonly<Ref<List | null>>,
  typed: Readonly<Ref<string>>,
  first: () => string | undefined,
): void {
  // Runs before the new results are drawn.
  watch(first, async () => {
    if (typed.value === '') return
    const drawn = list.value?.getItems() ?? []
    if (drawn.length > 0 && drawn[0]?.ref !== list.value?.highlightedElement) return
    await nextTick()
    list.value?.highlightFirstItem()
  })
}
