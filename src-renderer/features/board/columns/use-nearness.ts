import { onBeforeUnmount, type InjectionKey } from 'vue'

/** Tells when a column comes near what is seen, and when it goes; the answer ends that. */
export type ColumnVisibility = (column: Element, tell: (near: boolean) => void) => () => void

export const columnVisibilityKey: InjectionKey<ColumnVisibility> = Symbol('nearness')

/** Above this many columns only those near the window have their cards in the page. */
export const manyColumns = 12

/** Watches which columns are near what is seen of `root`. */
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
