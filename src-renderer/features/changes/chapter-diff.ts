import type { Chapter } from '../../../src-shared/contract/chapters.ts'
import type { DiffFile } from '../../../src-shared/contract/workspaces.ts'
import { keepRuns, type PatchRun } from '../../../src-shared/contract/patch-hunks.ts'
import type { DiffAnnotation } from '../../components/diff/diff-notes.ts'
import { chapterOfLine, lineOf, linesOf, shownOrder, type ChapterHunk } from '../../model/chapters.ts'
import type { ToldChanges } from './use-chapters.ts'

/** The part of a diff that a chapter is about. */
export interface ChapterDiff {
  readonly files: readonly DiffFile[]
  readonly patches: readonly string[]
}

const placeOf = ({ old, new: now }: PatchRun): string => `${old.join()} ${now.join()}`

/** Returns the files of a chapter in its order, each with the chapter's hunks alone. */
export function chapterDiff(chapter: Chapter, { chapters, files, patches }: ToldChanges): ChapterDiff {
  const inFile = new Map<string, number>()
  for (const { hunks } of chapters.chapters) for (const { path } of hunks) inFile.set(path, (inFile.get(path) ?? 0) + 1)
  const shown: DiffFile[] = []
  const texts: string[] = []
  for (const [path, hunks] of Map.groupBy(shownOrder(chapter), (hunk) => hunk.path)) {
    const file = files.get(path)
    if (!file) continue
    const patch = patches.get(path)
    const isWhole = inFile.get(path) === hunks.length
    shown.push(isWhole || file.binary ? file : { ...file, ...linesOf(hunks) })
    if (patch === undefined) continue
    const kept = new Set(hunks.map(placeOf))
    const text = isWhole ? patch : keepRuns(patch, (run) => kept.has(placeOf(run)))
    if (text !== null) texts.push(text)
  }
  return { files: shown, patches: [texts.join('')] }
}

const prefix = 'hunk/'

/** Returns the notes below the lines of hunks, where they are marked as read. */
export function hunkNotes(hunks: readonly ChapterHunk[]): readonly DiffAnnotation[] {
  return hunks.flatMap((hunk) => {
    const last = lineOf(hunk, 'last')
    return last === null ? [] : [{ ...last, key: prefix + hunk.id }]
  })
}

/** Returns the id of the hunk that a note is about; null for a comment. */
export const hunkOfNote = ({ key }: DiffAnnotation): string | null =>
  key.startsWith(prefix) ? key.slice(prefix.length) : null

/** Returns the notes that are shown in a chapter: those at its hunks and nearest to them. */
export function notesOf(
  chapter: Chapter,
  chapters: readonly Chapter[],
  notes: readonly DiffAnnotation[],
): readonly DiffAnnotation[] {
  return notes.filter((note) => chapterOfLine(chapters, note)?.id === chapter.id)
}
