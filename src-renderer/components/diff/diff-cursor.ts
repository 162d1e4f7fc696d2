import type { CodeView } from '@pierre/diffs'
import { lineBeside, textIn } from './diff-lines.ts'
import { placeOf, rangeOf, type DiffAnnotation, type DiffPosition, type NotedItem } from './diff-notes.ts'

interface CursorPorts {
  items(): readonly NotedItem[]
  view(): CodeView<DiffAnnotation> | null
  /** The path of the current file. */
  current(): string | null
  /** Begins a comment on these lines. */
  comment(place: DiffPosition): void
  /** Announces the cursor's position to screen readers. */
  announce(words: string): void
}

/** Creates the selection of lines in a diff, by pointer or keys: arrows move it, with Shift they extend it. */
export function createDiffCursor(ports: CursorPorts) {
  let place: DiffPosition | null = null
  /** The line where the selection of several lines began. */
  let anchor = 0

  function choose(next: DiffPosition | null): void {
    place = next
    const view = ports.view()
    if (!next) return view?.clearSelectedLines({ notify: false })
    view?.setSelectedLines({ id: next.path, range: rangeOf(next) }, { notify: false })
    ports.announce(wordsOf(next, ports.items()))
  }
  function reveal(): void {
    if (!place) return
    const side = place.side === 'old' ? 'deletions' : 'additions'
    ports
      .view()
      ?.scrollTo({ type: 'line', id: place.path, lineNumber: place.line, side, align: 'nearest', behavior: 'instant' })
  }
  function move(by: 1 | -1, isExtending: boolean): void {
    const next = beside(ports.items(), place, ports.current(), by)
    if (!next) return
    const isSameSide = place !== null && next.path === place.path && next.side === place.side
    if (!isExtending || !isSameSide) {
      anchor = next.line
      choose(next)
    } else {
      const [start_line, line] = [Math.min(anchor, next.line), Math.max(anchor, next.line)]
      choose({ ...next, line, ...(start_line !== line && { start_line }) })
    }
    reveal()
  }
  return {
    /** Stores the viewer's selection by pointer. */
    chosen(path: string | null, range: Parameters<typeof placeOf>[1] | null): void {
      place = path === null || range === null ? null : placeOf(path, range)
      anchor = place?.start_line ?? place?.line ?? 0
    },
    clear: () => choose(null),
    /** Returns the selected lines. */
    at: () => place,
    /** Returns the selected lines if they include this line, else the line alone. */
    around(at: DiffPosition): DiffPosition {
      if (place?.path !== at.path || place.side !== at.side) return at
      return at.line >= (place.start_line ?? place.line) && at.line <= place.line ? place : at
    },
    /** Moves the cursor to a line found by other means. */
    put(next: DiffPosition): void {
      anchor = next.line
      choose(next)
    },
    /** Handles a key for the lines. Returns whether it did. */
    onKey({ key, shiftKey }: Pick<KeyboardEvent, 'key' | 'shiftKey'>): boolean {
      if (key === 'ArrowDown' || key === 'ArrowUp') move(key === 'ArrowDown' ? 1 : -1, shiftKey)
      else if (key === 'Enter' && place) ports.comment(place)
      else if (key === 'Escape' && place) choose(null)
      else return false
      return true
    },
  }
}

/** Returns the items that show lines, in order from `path` on. */
function beginningAt(items: readonly NotedItem[], path: string | null, by: 1 | -1): NotedItem[] {
  const at = items.findIndex(({ id }) => id === path)
  const rest = at === -1 ? items : by === 1 ? items.slice(at) : items.slice(0, at + 1)
  const open = rest.filter(({ collapsed, fileDiff }) => collapsed !== true && fileDiff.hunks.length > 0)
  return by === 1 ? open : open.reverse()
}

function beside(items: readonly NotedItem[], from: DiffPosition | null, current: string | null, by: 1 | -1) {
  for (const item of beginningAt(items, from?.path ?? current, by)) {
    const inFile = from?.path === item.id ? { side: from.side, line: from.line } : null
    const line = lineBeside(item.fileDiff, inFile, by)
    if (line) return { path: item.id, side: line.side, line: line.line }
  }
  return null
}

function wordsOf({ path, side, line, start_line }: DiffPosition, items: readonly NotedItem[]): string {
  const lines = start_line === undefined ? `Line ${line}` : `Lines ${start_line} to ${line}`
  const diff = items.find(({ id }) => id === path)?.fileDiff
  const text = (diff && textIn(diff, { side, line })?.[0]?.trim().slice(0, 200)) ?? ''
  return `${lines} of ${path}, ${side === 'old' ? 'before' : 'now'}: ${text}`
}
