import { CUSTOM_HEADER_SLOT_ID } from '@pierre/diffs'
import { h, render, type AppContext } from 'vue'
import type { DiffViewFile } from './diff-items.ts'
import DiffFileHeader from './DiffFileHeader.vue'

export interface DiffHeaderState {
  file(path: string): DiffViewFile | undefined
  isClosed(path: string): boolean
  isLoading(path: string): boolean
  /** null if files can't be marked as viewed. */
  isViewed(path: string): boolean | null
  /** What the mark of a viewed file says. */
  mark(): string
  onToggle(path: string): void
  onLoad(path: string): void
  onViewed(path: string, viewed: boolean): void
  /** Returns a function that opens the file in an editor; null without one. */
  onOpen(path: string): (() => void) | null
}

export interface DiffHeaders {
  /** Puts the headers of the drawn files into the viewer's elements. */
  place(drawn: readonly { readonly id: string; readonly element: HTMLElement }[]): void
  /** Updates all shown headers and releases those of removed files. */
  refresh(): void
  dispose(): void
}

/**
 * Creates the headers of the files. They live in slots outside the viewer's shadow roots, so Vue
 * renders them. The viewer's own slot handling would reinsert them at every redraw, for example
 * after highlighting and scrolling, so a press on a button during a redraw would be lost.
 */
export function createDiffHeaders(state: DiffHeaderState, app: () => AppContext | null): DiffHeaders {
  const hosts = new Map<string, HTMLElement>()

  /** Renders the header of one file. Returns the same element each time; null for an absent file. */
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
      mark: state.mark(),
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
