import { inject, onScopeDispose, provide, watch, type InjectionKey, type Ref } from 'vue'

/** Gives an open dialog or menu an entry in the browser's history. Returns a function to call once it is closed. */
type OpenLayer = (close: () => void) => () => void

const key: InjectionKey<OpenLayer> = Symbol('open layer')

/** Provides the browser's history to the dialogs and menus of all components below. */
export const provideLayerHistory = (openLayer: OpenLayer): void => provide(key, openLayer)

/** Closes a dialog or menu by the browser's Back, which otherwise would change the screen under it. */
export function useBackCloses(open: Readonly<Ref<boolean>>, close: () => void): void {
  const openLayer = inject(key, null)
  let closed: (() => void) | null = null
  function leave(): void {
    closed?.()
    closed = null
  }
  watch(
    open,
    (now) => {
      leave()
      if (now) closed = openLayer?.(close) ?? null
    },
    { immediate: true },
  )
  onScopeDispose(leave)
}
