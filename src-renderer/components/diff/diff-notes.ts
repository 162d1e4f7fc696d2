import type { CodeViewDiffItem, DiffLineAnnotation, SelectedLineRange } from '@pierre/diffs'
import { showsLine } from './diff-lines.ts'

/** A position in a diff: its last line, and the first one of several. */
export interface DiffPosition {
  readonly path: string
  readonly side: 'old' | 'new'
  readonly line: number
  readonly start_line?: number | undefined
}

/** An annotation below a line of the diff. The parent of the diff renders it. */
export interface DiffAnnotation extends DiffPosition {
  readonly key: string
}

export type NotedItem = CodeViewDiffItem<DiffAnnotation>

const viewerSide = { old: 'deletions', new: 'additions' } as const

/** Returns the file with its notes. A note on a line that the diff doesn't show appears above the first line. */
export function withAnnotations(item: NotedItem, notes: readonly DiffAnnotation[]): NotedItem {
  const annotations = notes.map((note): DiffLineAnnotation<DiffAnnotation> => ({
    side: viewerSide[note.side],
    lineNumber: showsLine(item.fileDiff, note.side, note.line) ? note.line : 0,
    metadata: note,
  }))
  const key = notes.map((note) => `${note.key}@${note.side}${note.line}`).join()
  return { ...item, annotations, version: ((item.version ?? 0) + hash(key)) >>> 0 }
}

/** Converts the viewer's selection into a position. A selection across both sides becomes its last line. */
export function placeOf(path: string, { start, side, end, endSide }: SelectedLineRange): DiffPosition {
  const last = endSide ?? side ?? 'additions'
  const mixed = side !== undefined && side !== last
  const [first, line] = mixed ? [end, end] : [Math.min(start, end), Math.max(start, end)]
  const place = { path, side: last === 'deletions' ? ('old' as const) : ('new' as const), line }
  return first === line ? place : { ...place, start_line: first }
}

/** Converts a position into the viewer's selection. */
export function rangeOf({ side, line, start_line = line }: DiffPosition): SelectedLineRange {
  return { start: start_line, side: viewerSide[side], end: line, endSide: viewerSide[side] }
}

function hash(text: string): number {
  let sum = 0
  for (let at = 0; at < text.length; at++) sum = (Math.imul(sum, 31) + text.charCodeAt(at)) | 0
  return sum >>> 0
}
