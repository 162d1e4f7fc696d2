import type { Chapter, ChapterRisk, Chapters } from '../../src-shared/contract/chapters.ts'
import { count } from '../formatters/format-amounts.ts'

export type ChapterHunk = Chapter['hunks'][number]
type IsRead = (hunk: ChapterHunk) => boolean

/** How much of a change is read. Folded chapters count for nothing: nothing in them needs to be read. */
export interface ReadingProgress {
  readonly total: number
  readonly read: number
  readonly unread: number
  /** How many of the unread changes have a risk. */
  readonly risky: number
}

export function readingProgress(
  chapters: readonly Chapter[],
  risks: readonly ChapterRisk[],
  isRead: IsRead,
): ReadingProgress {
  const risky = new Set(risks.map(({ hunk }) => hunk))
  const hunks = chapters.filter(({ folded }) => !folded).flatMap((chapter) => chapter.hunks)
  const unread = hunks.filter((hunk) => !isRead(hunk))
  return {
    total: hunks.length,
    read: hunks.length - unread.length,
    unread: unread.length,
    risky: unread.filter(({ id }) => risky.has(id)).length,
  }
}

/** Describes what isn't read: `12 changes not read, 2 with risks`. */
export function unreadText({ total, unread, risky }: ReadingProgress): string {
  if (total === 0) return 'No changes to read'
  if (unread === 0) return total === 1 ? 'The change is read' : `All ${total} changes read`
  const risks = risky === 0 ? '' : `, ${risky} with ${risky === 1 ? 'a risk' : 'risks'}`
  return `${count(unread, 'change')} not read${risks}`
}

/** Returns the number of lines that a chapter removes and adds. */
export function linesOf(hunks: readonly ChapterHunk[]): { readonly additions: number; readonly deletions: number } {
  return {
    additions: hunks.reduce((sum, { new: [, lines] }) => sum + lines, 0),
    deletions: hunks.reduce((sum, { old: [, lines] }) => sum + lines, 0),
  }
}

/** Describes the size of a chapter: `3 changes, 41 lines`. */
export function sizeText(hunks: readonly ChapterHunk[]): string {
  const { additions, deletions } = linesOf(hunks)
  const changes = count(hunks.length, 'change')
  return additions + deletions === 0 ? changes : `${changes}, ${count(additions + deletions, 'line')}`
}

/** Returns the hunks of a chapter in the order in which they are shown: file by file. */
export function shownOrder({ hunks }: Chapter): readonly ChapterHunk[] {
  return [...Map.groupBy(hunks, ({ path }) => path).values()].flatMap((some) =>
    some.toSorted((one, other) => one.new[0] - other.new[0] || one.old[0] - other.old[0]),
  )
}

/** A hunk with its chapter. */
export interface HunkPlace {
  readonly chapter: Chapter
  readonly hunk: ChapterHunk
}

/** Returns all hunks that are to be read, in order. */
export function readingOrder(chapters: readonly Chapter[]): readonly HunkPlace[] {
  return chapters.flatMap((chapter) => (chapter.folded ? [] : shownOrder(chapter).map((hunk) => ({ chapter, hunk }))))
}

/**
 * Returns the next hunk that isn't read: after this hunk, or if it is null, after the beginning of this chapter; after
 * the last one, from the first on. Null if all are read.
 */
export function nextUnread(
  chapters: readonly Chapter[],
  from: { readonly chapter: string | null; readonly hunk: string | null },
  isRead: IsRead,
): HunkPlace | null {
  const all = readingOrder(chapters)
  const at = all.findIndex(({ hunk }) => hunk.id === from.hunk)
  const begin = at >= 0 ? at + 1 : Math.max(0, beginOf(all, chapters, from.chapter))
  return [...all.slice(begin), ...all.slice(0, begin)].find(({ hunk }) => !isRead(hunk)) ?? null
}

/** Returns where a chapter begins among the hunks to be read; where the next one does if it is folded. */
function beginOf(all: readonly HunkPlace[], chapters: readonly Chapter[], id: string | null): number {
  const rank = chapters.findIndex((chapter) => chapter.id === id)
  return all.findIndex(({ chapter }) => chapters.indexOf(chapter) >= rank)
}

/**
 * Returns the chapter to show after the work changed: that of the hunk which is being read, else the one with most of
 * the same hunks, else one with the same file, else the one in the same position.
 */
export function chapterAfter(
  before: Chapter,
  rank: number,
  hunk: string | null,
  now: readonly Chapter[],
): Chapter | null {
  const ofHunk = hunk === null ? undefined : now.find(({ hunks }) => hunks.some(({ id }) => id === hunk))
  if (ofHunk) return ofHunk
  const ids = new Set(before.hunks.map(({ id }) => id))
  const paths = new Set(before.hunks.map(({ path }) => path))
  const most = (of: (one: ChapterHunk) => boolean): Chapter | undefined => {
    const counted = now.map((chapter) => ({ chapter, same: chapter.hunks.filter(of).length }))
    const best = Math.max(0, ...counted.map(({ same }) => same))
    return best === 0 ? undefined : counted.find(({ same }) => same === best)?.chapter
  }
  return (
    most(({ id }) => ids.has(id)) ?? most(({ path }) => paths.has(path)) ?? now[Math.min(rank, now.length - 1)] ?? null
  )
}

/** Returns the ids of the hunks that were not there before. */
export function newHunks(before: readonly Chapter[], now: readonly Chapter[]): ReadonlySet<string> {
  const known = new Set(before.flatMap(({ hunks }) => hunks.map(({ id }) => id)))
  return new Set(now.flatMap(({ hunks }) => hunks.flatMap(({ id }) => (known.has(id) ? [] : [id]))))
}

/** A line of a file, on one side of a diff. */
export interface HunkLine {
  readonly path: string
  readonly side: 'old' | 'new'
  readonly line: number
}

/** Returns the first or last changed line of a hunk; null if it has no lines. */
export function lineOf({ cause, path, old, new: now }: ChapterHunk, end: 'first' | 'last'): HunkLine | null {
  if (cause !== 'lines' && cause !== 'submodule') return null
  const [side, [start, lines]] = now[1] > 0 ? (['new', now] as const) : (['old', old] as const)
  if (lines === 0) return null
  return { path, side, line: end === 'first' ? start : start + lines - 1 }
}

/** Returns the chapter that shows a line: the one with the nearest hunk of its file. */
export function chapterOfLine(chapters: readonly Chapter[], { path, side, line }: HunkLine): Chapter | null {
  let [nearest, found]: [number, Chapter | null] = [Infinity, null]
  for (const chapter of chapters) {
    for (const hunk of chapter.hunks) {
      if (hunk.path !== path) continue
      const [start, lines] = side === 'new' ? hunk.new : hunk.old
      const away = Math.max(0, start - line, line - (start + Math.max(0, lines - 1)))
      if (away < nearest) [nearest, found] = [away, chapter]
    }
  }
  return found
}

/** Returns who proposed the chapters, so that title and reason are their words; null for those of the rules. */
export const tellerOf = ({ source, by }: Pick<Chapters, 'source' | 'by'>): string | null =>
  source === 'agent' ? by : null
