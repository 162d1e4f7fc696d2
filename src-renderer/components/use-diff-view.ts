import { CodeView, type CodeViewDiffItem, type CodeViewOptions } from '@pierre/diffs'
import { h, onBeforeUnmount, render, watch, type AppContext } from 'vue'
import { useColourScheme } from '../composables/use-colour-scheme.ts'
import { diffShadowStyles, diffTheme } from './diff-theme.ts'
import { diffWorkers } from './diff-workers.ts'
import { diffItems, WORD_DIFF_LIMIT, type DiffViewFile } from './diff-items.ts'
import DiffFileHeader from './DiffFileHeader.vue'

export interface DiffViewSource {
  /** The files in the order in which they are shown. */
  readonly files: readonly DiffViewFile[]
  /** git's patches, which together hold the files that are not left out. */
  readonly patches: readonly string[]
  /** Paths that are being loaded. */
  readonly loading: ReadonlySet<string>
  readonly layout: 'unified' | 'split'
}

export interface DiffViewEvents {
  load(path: string): void
  current(path: string): void
}

/** Owns one viewer: makes it on `mount`, follows source and theme, cleans up with the component. */
export function useDiffView(source: () => DiffViewSource, events: DiffViewEvents, app: () => AppContext | null) {
  const scheme = useColourScheme()
  const closed = new Set<string>()
  const headers = new Map<string, HTMLElement>()
  let view: CodeView | null = null
  let items: CodeViewDiffItem[] = []
  let unsubscribe: (() => void) | undefined
  /** A file that was asked for stays the current one until somebody scrolls: near the end it cannot come to the top. */
  let pinned = false

  function renderHeader(path: string): HTMLElement | null {
    const file = source().files.find((candidate) => candidate.path === path)
    if (!file) return null
    const host = headers.get(path) ?? document.createElement('div')
    headers.set(path, host)
    const node = h(DiffFileHeader, {
      file,
      collapsed: closed.has(path),
      loading: source().loading.has(path),
      onToggle: () => toggle(path),
      onLoad: () => events.load(path),
    })
    node.appContext = app()
    render(node, host)
    return host
  }

  function toggle(path: string): void {
    if (!closed.delete(path)) closed.add(path)
    const item = items.find((candidate) => candidate.id === path)
    if (!item || !view) return
    item.collapsed = closed.has(path)
    item.version = (item.version ?? 0) + 1
    view.updateItem({ ...item })
    renderHeader(path)
  }

  const options = (): CodeViewOptions<undefined, undefined> => ({
    theme: diffTheme(),
    themeType: scheme.value,
    preferredHighlighter: 'shiki-js',
    diffStyle: source().layout,
    diffIndicators: 'classic',
    overflow: 'wrap',
    hunkSeparators: 'line-info-basic',
    lineDiffType: wordDiff(source().files),
    stickyHeaders: true,
    unsafeCSS: diffShadowStyles,
    itemMetrics: { diffHeaderHeight: 36 },
    layout: { paddingTop: 12, paddingBottom: 12, gap: 12 },
    renderCustomHeader: (...args: readonly unknown[]) => {
      const [diff] = args as [{ name: string }]
      return renderHeader(diff.name)
    },
  })

  function show(): void {
    items = diffItems(source().files, source().patches).map((item) => ({ ...item, collapsed: closed.has(item.id) }))
    for (const [path, host] of headers) {
      if (items.some((item) => item.id === path)) continue
      render(null, host)
      headers.delete(path)
    }
    view?.setItems(items)
    for (const path of headers.keys()) renderHeader(path)
  }

  function reportCurrent(scrollTop: number): void {
    if (pinned) return
    let current = items[0]?.id
    for (const item of items) {
      if ((view?.getTopForItem(item.id) ?? Infinity) <= scrollTop + 24) current = item.id
    }
    if (current !== undefined) events.current(current)
  }

  function mount(root: HTMLElement): void {
    const pool = diffWorkers()
    view = new CodeView(options(), pool)
    view.setup(root)
    for (const type of ['wheel', 'touchmove', 'pointerdown'] as const)
      root.addEventListener(type, () => (pinned = false), { passive: true })
    unsubscribe = view.subscribeToScroll(reportCurrent)
    show()
  }

  watch(source, (next, before) => {
    if (next.layout !== before.layout || wordDiff(next.files) !== wordDiff(before.files)) view?.setOptions(options())
    if (next.files !== before.files || next.patches !== before.patches || next.loading !== before.loading) show()
  })
  watch(scheme, () => view?.setOptions(options()))
  onBeforeUnmount(() => {
    unsubscribe?.()
    view?.cleanUp()
    for (const host of headers.values()) render(null, host)
  })

  return {
    mount,
    scrollTo: (path: string) => {
      pinned = true
      view?.scrollTo({ type: 'item', id: path, align: 'start', behavior: 'instant' })
    },
  }
}

function wordDiff(files: readonly DiffViewFile[]): 'word' | 'none' {
  return files.some((file) => file.additions + file.deletions > WORD_DIFF_LIMIT) ? 'none' : 'word'
}
