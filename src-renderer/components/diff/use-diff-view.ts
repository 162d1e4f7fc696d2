import { CodeView, type CodeViewOptions } from '@pierre/diffs'
import { nextTick, onBeforeUnmount, shallowReactive, watch, type AppContext } from 'vue'
import { useColorScheme } from '../../composables/use-color-scheme.ts'
import { changePlaces, nextPlace, type ChangePlace } from './change-steps.ts'
import { trackCurrent } from './diff-current.ts'
import { createDiffCursor } from './diff-cursor.ts'
import { createDiffHeaders } from './diff-headers.ts'
import { addButton, focusIn, followHosts, keepFocus } from './diff-hosts.ts'
import { layoutOfFile, setLayoutByFile, type DiffLayout } from './diff-layout.ts'
import { itemReader, WORD_DIFF_LIMIT, type DiffViewFile } from './diff-items.ts'
import { lineNow, textIn } from './diff-lines.ts'
import { placeOf, withAnnotations, type DiffAnnotation, type DiffPosition, type NotedItem } from './diff-notes.ts'
import { lineUnder } from './diff-pointer.ts'
import { diffShadowStyles, diffTheme } from './diff-theme.ts'
import { diffWorkers } from './diff-workers.ts'
import { drawAhead } from './draw-ahead.ts'

export interface DiffViewSource {
  /** The files in their shown order. */
  readonly files: readonly DiffViewFile[]
  /** git's patches, which together contain all files that aren't left out. */
  readonly patches: readonly string[]
  /** The paths of loading files. */
  readonly loading: ReadonlySet<string>
  /** The paths of viewed files; null if files can't be marked. */
  readonly viewed: ReadonlySet<string> | null
  /** What the mark of a viewed file says. */
  readonly mark: string
  readonly layout: DiffLayout
  /** The annotations below lines; null if lines can't be commented on. */
  readonly notes: readonly DiffAnnotation[] | null
  /** The paths of initially folded files. */
  readonly folded: ReadonlySet<string>
  /** Whether this machine has an editor. */
  readonly opens: boolean
}

export interface DiffViewEvents {
  load(path: string): void
  current(path: string): void
  viewed(path: string, viewed: boolean): void
  /** Begins a comment on these lines. */
  comment(place: DiffPosition): void
  open(path: string, line: number): void
  /** Announces the cursor's position to screen readers. */
  announce(words: string): void
}

interface HoveredLine {
  readonly lineNumber: number
  readonly side: 'deletions' | 'additions'
}

type Options = CodeViewOptions<DiffAnnotation, undefined>

/** Owns one viewer: creates it on `mount`, follows source and theme, cleans up with the component. */
export function useDiffView(source: () => DiffViewSource, events: DiffViewEvents, app: () => AppContext | null) {
  const scheme = useColorScheme()
  const closed = new Set<string>([...(source().viewed ?? []), ...source().folded])
  const workers = diffWorkers()
  const read = itemReader()
  let view: CodeView<DiffAnnotation> | null = null
  let items: NotedItem[] = []
  let currentPath: string | null = null
  /** The elements of the annotations; the parent of the diff renders into them. */
  const hosts = shallowReactive(new Map<string, HTMLElement>())
  /** The keys of the notes that the viewer has asked for: hundreds that no one scrolls to would take seconds. */
  const drawn = shallowReactive(new Set<string>())
  /** The keys of just requested notes, whose fields get the focus. */
  const fresh = new Set<string>()
  const headers = createDiffHeaders(
    {
      file: (path) => source().files.find((candidate) => candidate.path === path),
      isClosed: (path) => closed.has(path),
      isLoading: (path) => source().loading.has(path),
      isViewed: (path) => source().viewed?.has(path) ?? null,
      mark: () => source().mark,
      onToggle: toggle,
      onLoad: (path) => events.load(path),
      onViewed: (path, viewed) => events.viewed(path, viewed),
      onOpen: (path) => (source().opens ? () => events.open(path, lineToOpen(path, cursor.at())) : null),
    },
    app,
  )
  const cursor = createDiffCursor({
    items: () => items,
    view: () => view,
    current: () => currentPath,
    comment: (place) => source().notes && events.comment(place),
    announce: (words) => events.announce(words),
  })

  /**
   * Returns the line at which to open a file: the requested one if it belongs to the file, else
   * that of the first change.
   */
  function lineToOpen(path: string, asked: DiffPosition | null): number {
    const item = items.find(({ id }) => id === path)
    if (!item) return 1
    if (asked?.path === path) return lineNow(item.fileDiff, asked.side, asked.start_line ?? asked.line)
    return changePlaces([item]).find(({ side }) => side === 'additions')?.lineNumber ?? 1
  }
  function fold(path: string, shut: boolean): void {
    if (closed.has(path) === shut) return
    if (shut) closed.add(path)
    else closed.delete(path)
    redraw(path)
  }
  function redraw(path: string): void {
    const item = items.find((candidate) => candidate.id === path)
    if (!item) return
    item.collapsed = closed.has(path)
    item.version = (item.version ?? 0) + 1
    view?.updateItem({ ...item })
  }
  function toggle(path: string): void {
    fold(path, !closed.has(path))
    headers.refresh()
  }
  /** Folds files that were marked as viewed, and unfolds those whose mark was removed. */
  function followTicks(now: ReadonlySet<string>, before: ReadonlySet<string>): void {
    for (const path of now) if (!before.has(path)) fold(path, true)
    for (const path of before) if (!now.has(path)) fold(path, false)
  }
  function show(): void {
    const byPath = Map.groupBy(source().notes ?? [], ({ path }) => path)
    const added = followHosts(hosts, source().notes ?? [])
    if (view) for (const key of added) fresh.add(key)
    for (const key of drawn) if (!hosts.has(key)) drawn.delete(key)
    items = read(source().files, source().patches).map((item) => ({
      ...withAnnotations(item, byPath.get(item.id) ?? []),
      collapsed: closed.has(item.id),
    }))
    keepFocus(view?.getContainerElement(), () => {
      view?.setItems(items)
      // The field must exist before the user's next key.
      if (fresh.size > 0) view?.render(true)
      headers.refresh()
    })
  }
  /** Redraws the files whose layout differs from `before` while the viewer's own layout stays. */
  function layAnew(before: DiffLayout): void {
    const { layout, files } = source()
    if (layout === 'unified' || before === 'unified') return
    for (const file of files) if (layoutOfFile(layout, file) !== layoutOfFile(before, file)) redraw(file.path)
  }
  function configure(): Options {
    const lineDiffType = wordDiff(source().files)
    // Workers have options of their own; the viewer's option applies without them.
    void workers?.setRenderOptions({ lineDiffType })
    const options = viewOptions(source().layout, scheme.value, lineDiffType)
    return source().notes === null ? options : { ...options, ...noteOptions() }
  }

  function noteOptions(): Options {
    return {
      enableLineSelection: true,
      enableGutterUtility: true,
      renderAnnotation: (...args: readonly unknown[]) => {
        const [{ metadata }] = args as [{ metadata: DiffAnnotation }]
        const host = hosts.get(metadata.key)
        if (host) drawn.add(metadata.key)
        if (host && fresh.delete(metadata.key)) void nextTick(() => focusIn(host))
        return host
      },
      renderGutterUtility: (...args: readonly unknown[]) => {
        const [hovered, { item }] = args as [() => HoveredLine | undefined, { item: NotedItem }]
        return addButton(() => {
          const at = hovered()
          if (at)
            events.comment(cursor.around(placeOf(item.id, { start: at.lineNumber, end: at.lineNumber, side: at.side })))
        })
      },
      onSelectedLinesChange: (chosen) => cursor.chosen(chosen?.id ?? null, chosen?.range ?? null),
    }
  }

  watch(source, (next, before) => {
    if (
      next.layout !== before.layout ||
      wordDiff(next.files) !== wordDiff(before.files) ||
      (next.notes === null) !== (before.notes === null)
    )
      view?.setOptions(configure())
    if (next.layout !== before.layout) layAnew(before.layout)
    if (next.viewed !== before.viewed) followTicks(next.viewed ?? new Set(), before.viewed ?? new Set())
    if (next.folded !== before.folded) followTicks(next.folded, before.folded)
    if (next.files !== before.files || next.patches !== before.patches || next.notes !== before.notes) show()
    else headers.refresh()
  })
  watch(scheme, () => view?.setOptions(configure()))
  onBeforeUnmount(() => {
    view?.cleanUp()
    headers.dispose()
  })

  const current = trackCurrent(
    () => items,
    (path) => {
      currentPath = path
      events.current(path)
    },
  )
  let lastStep: ChangePlace | null = null
  return {
    mount: (root: HTMLElement): void => {
      view = new CodeView(configure(), workers)
      setLayoutByFile(view, (path) =>
        layoutOfFile(
          source().layout,
          source().files.find((file) => file.path === path),
        ),
      )
      view.setSlotCoordinator({
        hasHeaderRenderers: true,
        hasAnnotationRenderer: false,
        hasGutterRenderer: false,
        onSnapshotChange: (snapshot) => headers.place(snapshot?.items ?? []),
      })
      view.setup(root)
      current.watch(root, view)
      drawAhead(view)
      show()
    },
    hosts,
    drawn,
    onKey: (event: KeyboardEvent): boolean => cursor.onKey(event),
    clearChoice: (): void => cursor.clear(),
    /** Returns the lines of an event: those under the pointer, or for a key the selected ones. */
    placeOfEvent: (event: Event): DiffPosition | null => {
      const under = view && lineUnder(event.composedPath(), view)
      return under ? cursor.around(under) : event.target === view?.getContainerElement() ? cursor.at() : null
    },
    /**
     * Returns a line's number in the current file: of the given lines, else of the selected ones,
     * else of the current file's first change.
     */
    placeNow: (asked: DiffPosition | null = cursor.at()): { readonly path: string; readonly line: number } | null => {
      const path = asked?.path ?? currentPath ?? items[0]?.id
      return path === undefined ? null : { path, line: lineToOpen(path, asked) }
    },
    scrollTo: (path: string): void => {
      current.pin()
      currentPath = path
      view?.scrollTo({ type: 'item', id: path, align: 'start', behavior: 'instant' })
    },
    foldAll: (shut: boolean): void => {
      for (const { path } of source().files) fold(path, shut)
      headers.refresh()
    },
    /** Returns the lines of a position; null if the diff omits or cuts one of them. */
    textOf: (place: DiffPosition): readonly string[] | null => {
      const file = items.find(({ id }) => id === place.path)?.fileDiff
      return file ? textIn(file, place) : null
    },
    /** Scrolls to a line, and unfolds its file. */
    showPlace: (at: DiffPosition): void => {
      if (closed.has(at.path)) toggle(at.path)
      current.pin()
      cursor.put(at)
      const side = at.side === 'old' ? 'deletions' : 'additions'
      view?.scrollTo({ type: 'line', id: at.path, lineNumber: at.line, side, align: 'center', behavior: 'instant' })
    },
    /** Moves to the next run of changed lines after the last visited one, or in the current file. */
    stepChange: (by: 1 | -1, path: string | null): void => {
      const order = items.map(({ id }) => id)
      const next = nextPlace(changePlaces(items), lastStep, path, by, order)
      if (next === null) return
      lastStep = next
      if (closed.has(next.id)) toggle(next.id)
      current.pin()
      cursor.put({ path: next.id, side: next.side === 'deletions' ? 'old' : 'new', line: next.lineNumber })
      view?.scrollTo({ type: 'line', ...next, align: 'center', behavior: 'instant' })
      events.current(next.id)
    },
  }
}

function viewOptions(layout: DiffLayout, themeType: 'light' | 'dark', lineDiffType: 'word' | 'none'): Options {
  return {
    theme: diffTheme(),
    themeType,
    preferredHighlighter: 'shiki-js',
    diffStyle: layout === 'unified' ? 'unified' : 'split',
    diffIndicators: 'classic',
    overflow: 'wrap',
    hunkSeparators: 'line-info-basic',
    lineDiffType,
    stickyHeaders: true,
    unsafeCSS: diffShadowStyles,
    // The lines of a file end at its border, which is 1 px at its top and bottom.
    itemMetrics: { diffHeaderHeight: 32, hunkSeparatorHeight: 20, paddingBottom: 2 },
    layout: { paddingTop: 0, paddingBottom: 12, gap: 12 },
    // Headers exist, but `createDiffHeaders` inserts them rather than the viewer.
    renderCustomHeader: () => null,
  }
}

function wordDiff(files: readonly DiffViewFile[]): 'word' | 'none' {
  return files.some((file) => !file.truncated && file.additions + file.deletions > WORD_DIFF_LIMIT) ? 'none' : 'word'
}
