import { onBeforeUnmount, type InjectionKey } from 'vue'

/**
 * Calls back when a column comes near the viewport or leaves it. Returns a function that stops
 * watching.
 */
export type ColumnVisibility = (column: Element, tell: (near: boolean) => void) => () => void

export const columnVisibilityKey: InjectionKey<ColumnVisibility> = Symbol('nearness')

/** Above this number of columns only those near the viewport render their cards. */
export const manyColumns = 12

/** Observes which columns are near the viewport of `root`. */
export function createColumnVisibility(root: () => Element | null): ColumnVisibility {
  const listeners = new Map<Element, (near: boolean) => void>()
  let observer: IntersectionObserver | null = null
  onBeforeUnmount(() => observer?.disconnect())
  return (column, tell) => {
    observer ??= new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) listeners.get(target)?.(isIntersecting)
      },
      { root: root(), rootMargin: '0px 640px' },
    )
    listeners.set(column, tell)
    observer.observe(column)
    return () => {
      listeners.delete(column)
      observer?.unobserve(column)
    }
  }
}
