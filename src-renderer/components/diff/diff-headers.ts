import { CUSTOM_HEADER_SLOT_ID } from '@pierre/diffs'
import { h, render, type AppContext } from 'vue'
import type { DiffViewFile } from './diff-items.ts'
import DiffFileHeader from './DiffFileHeader.vue'

export interface DiffHeaderState {
  file(path: string): DiffViewFile | undefined
  isClosed(path: string): boolean
  isLoading(path: string): boolean
  /** Null where files are not ticked off. */
  isViewed(path: string): boolean | null
  onToggle(path: string): void
  onLoad(path: string): void
  onViewed(path: string, viewed: boolean): void
  /** What opens the file in an editor; null where nothing can. */
  onOpen(path: string): (() => void) | null
}

export interface DiffHeaders {
  /** Puts the bars of the files that the viewer has drawn into its elements of them. */
  place(drawn: readonly { readonly id: string; readonly element: HTMLElement }[]): void
  /** Brings every bar that is shown up to date and lets go of the files that are gone. */
  refresh(): void
  dispose(): void
}

/**
 * The bars above the files. They live outside the viewer's shadow roots, in slots, so Vue draws them. The viewer does
 * not put them there itself: it would take each out and in again whenever it draws its file anew, as it does when the
 * colours of the code come or when one scrolls, and who is pressing a button in it would have pressed for nothing.
 */
export function createDiffHeaders(state: DiffHeaderState, app: () => AppContext | null): DiffHeaders {
  const hosts = new Map<string, HTMLElement>()

  /** The bar of one file; the same element each time, brought up to date. Null for a file that is not there. */
  function draw(path: string): HTMLElement | null {
    const file = state.file(path)
    if (!file) return null
    const host = hosts.get(path) ?? document.createElement('div')
    host.slot = CUSTOM_HEADER_SLOT_ID
    hosts.set(path, host)
    const node = h(DiffFileHeader, {
      file,
      collapsed: state.isClosed(path),
      loading: state.isLoading(path),
      viewed: state.isViewed(path),
      onToggle: () => state.onToggle(path),
      onLoad: () => state.onLoad(path),
      open: state.onOpen(path),
      'onUpdate:viewed': (viewed: boolean | null) => state.onViewed(path, viewed === true),
    })
    node.appContext = app()
    render(node, host)
    return host
  }
  function drop(path: string, host: HTMLElement): void {
    render(null, host)
    hosts.delete(path)
  }
  return {
    place: (drawn) => {
      for (const { id, element } of drawn) {
        if (hosts.get(id)?.parentElement === element) continue
        const host = draw(id)
        if (host) element.append(host)
      }
    },
    refresh: () => {
      for (const [path, host] of hosts) {
        if (!state.file(path)) drop(path, host)
        else if (host.isConnected) draw(path)
      }
    },
    dispose: () => {
      for (const [path, host] of hosts) drop(path, host)
    },
  }
}
