import { CodeView, type CodeViewDiffItem, type CodeViewOptions } from '@pierre/diffs'
import { onBeforeUnmount, watch, type AppContext } from 'vue'
import { useColourScheme } from '../composables/use-colour-scheme.ts'
import { changePlaces, nextPlace, type ChangePlace } from './change-steps.ts'
import { createDiffHeaders } from './diff-headers.ts'
import { diffItems, WORD_DIFF_LIMIT, type DiffViewFile } from './diff-items.ts'
import { diffShadowStyles, diffTheme } from './diff-theme.ts'
import { diffWorkers } from './diff-workers.ts'

export interface DiffViewSource {
  /** The files in the order in which they are shown. */
  readonly files: readonly DiffViewFile[]
  /** git's patches, which together hold the files that are not left out. */
  readonly patches: readonly string[]
  /** Paths that are being loaded. */
  readonly loading: ReadonlySet<string>
  /** Paths that are ticked off; null where nothing can be. */
  readonly viewed: ReadonlySet<string> | null
  readonly layout: 'unified' | 'split'
}

export interface DiffViewEvents {
  load(path: string): void
  current(path: string): void
  viewed(path: string, viewed: boolean): void
}

type Options = CodeViewOptions<undefined, undefined>

/** Owns one viewer: makes it on `mount`, follows source and theme, cleans up with the component. */
export function useDiffView(source: () => DiffViewSource, events: DiffViewEvents, app: () => AppContext | null) {
  const scheme = useColourScheme()
  const closed = new Set<string>(source().viewed ?? [])
  const workers = diffWorkers()
  let view: CodeView | null = null
  let items: CodeViewDiffItem[] = []
  const headers = createDiffHeaders(
    {
      file: (path) => source().files.find((candidate) => candidate.path === path),
      isClosed: (path) => closed.has(path),
      isLoading: (path) => source().loading.has(path),
      isViewed: (path) => source().viewed?.has(path) ?? null,
      onToggle: toggle,
      onLoad: (path) => events.load(path),
      onViewed: (path, viewed) => events.viewed(path, viewed),
    },
    app,
  )

  function fold(path: string, shut: boolean): void {
    if (shut) closed.add(path)
    else closed.delete(path)
    const item = items.find((candidate) => candidate.id === path)
    if (!item || item.collapsed === shut) return
    item.collapsed = shut
    item.version = (item.version ?? 0) + 1
    view?.updateItem({ ...item })
  }
  function toggle(path: string): void {
    fold(path, !closed.has(path))
    headers.refresh()
  }
  /** A tick folds its file, and what loses its tick is there to be read again. */
  function followTicks(now: ReadonlySet<string>, before: ReadonlySet<string>): void {
    for (const path of now) if (!before.has(path)) fold(path, true)
    for (const path of before) if (!now.has(path)) fold(path, false)
  }
  function show(): void {
    items = diffItems(source().files, source().patches).map((item) => ({ ...item, collapsed: closed.has(item.id) }))
    view?.setItems(items)
    headers.refresh()
  }
  function configure(): Options {
    const lineDiffType = wordDiff(source().files)
    // With workers, what they mark is theirs to say; the viewer's own option serves without them.
    void workers?.setRenderOptions({ lineDiffType })
    return viewOptions(source().layout, scheme.value, lineDiffType, headers.draw)
  }

  watch(source, (next, before) => {
    if (next.layout !== before.layout || wordDiff(next.files) !== wordDiff(before.files)) view?.setOptions(configure())
    if (next.viewed !== before.viewed) followTicks(next.viewed ?? new Set(), before.viewed ?? new Set())
    if (next.files !== before.files || next.patches !== before.patches) show()
    else if (next.loading !== before.loading || next.viewed !== before.viewed) headers.refresh()
  })
  watch(scheme, () => view?.setOptions(configure()))
  onBeforeUnmount(() => {
    view?.cleanUp()
    headers.dispose()
  })

  const current = trackCurrent(() => items, events)
  let place: ChangePlace | null = null
  return {
    mount: (root: HTMLElement): void => {
      view = new CodeView(configure(), workers)
      view.setup(root)
      current.watch(root, view)
      show()
    },
    scrollTo: (path: string): void => {
      current.pin()
      view?.scrollTo({ type: 'item', id: path, align: 'start', behavior: 'instant' })
    },
    /** To the next run of changed lines after the last one that was stepped to, or in the file at which somebody looks. */
    stepChange: (by: 1 | -1, path: string | null): void => {
      const next = nextPlace(changePlaces(items), place, path, by)
      if (next === null) return
      place = next
      fold(next.id, false)
      current.pin()
      view?.scrollTo({ type: 'line', ...next, align: 'center', behavior: 'instant' })
      events.current(next.id)
    },
  }
}

function viewOptions(
  diffStyle: DiffViewSource['layout'],
  themeType: 'light' | 'dark',
  lineDiffType: 'word' | 'none',
  drawHeader: (path: string) => HTMLElement | null,
): Options {
  return {
    theme: diffTheme(),
    themeType,
    preferredHighlighter: 'shiki-js',
    diffStyle,
    diffIndicators: 'classic',
    overflow: 'wrap',
    hunkSeparators: 'line-info-basic',
    lineDiffType,
    stickyHeaders: true,
    unsafeCSS: diffShadowStyles,
    itemMetrics: { diffHeaderHeight: 36 },
    layout: { paddingTop: 12, paddingBottom: 12, gap: 12 },
    renderCustomHeader: (...args: readonly unknown[]) => {
      const [diff] = args as [{ name: string }]
      return drawHeader(diff.name)
    },
  }
}

/** Says which file is at the top while somebody scrolls. */
function trackCurrent(items: () => readonly CodeViewDiffItem[], events: DiffViewEvents) {
  // A file that was asked for stays the current one until somebody scrolls: near the end it cannot come to the top.
  let pinned = false
  function report(scrollTop: number, view: CodeView): void {
    if (pinned) return
    let current = items()[0]?.id
    for (const item of items()) {
      if ((view.getTopForItem(item.id) ?? Infinity) <= scrollTop + 24) current = item.id
    }
    if (current !== undefined) events.current(current)
  }
  return {
    pin: () => void (pinned = true),
    watch(root: HTMLElement, view: CodeView): void {
      for (const type of ['wheel', 'touchmove', 'pointerdown'] as const)
        root.addEventListener(type, () => (pinned = false), { passive: true })
      // The listeners go with the viewer and its element.
      view.subscribeToScroll((scrollTop) => report(scrollTop, view))
    },
  }
}

function wordDiff(files: readonly DiffViewFile[]): 'word' | 'none' {
  return files.some((file) => !file.truncated && file.additions + file.deletions > WORD_DIFF_LIMIT) ? 'none' : 'word'
}
