import { computed } from 'vue'
import { lineOf, shownOrder, tellerOf, type ChapterHunk } from '../../model/chapters.ts'
import { usePeople } from '../../stores/people/people.ts'
import { chapterDiff, hunkNotes, notesOf } from './chapter-diff.ts'
import type { DiffNotes } from './use-diff-notes.ts'
import type { Reading } from './use-reading.ts'

/** Returns what the page of the open chapter shows. */
export function useChapterPage(
  { shown, chapter }: Reading,
  isRead: (hunk: ChapterHunk) => boolean,
  noted: Pick<DiffNotes, 'notes'>,
) {
  const people = usePeople()
  const hunks = computed(() => (chapter.value ? shownOrder(chapter.value) : []))
  const risks = computed(() => Map.groupBy(shown.value.chapters.risks, (risk) => risk.hunk))
  return {
    hunks,
    byId: computed(() => new Map(hunks.value.map((one) => [one.id, one]))),
    diff: computed(() => (chapter.value ? chapterDiff(chapter.value, shown.value) : { files: [], patches: [] })),
    risks,
    /** The name of who proposed the chapters; null for those of the rules. */
    teller: computed(() => {
      const by = tellerOf(shown.value.chapters)
      return by === null ? null : people.actor(by).name
    }),
    /** Those that no line of the diff shows. */
    risksApart: computed(() =>
      hunks.value.flatMap((one) => (lineOf(one, 'last') === null ? (risks.value.get(one.id) ?? []) : [])),
    ),
    notes: computed(() =>
      chapter.value
        ? [...hunkNotes(hunks.value), ...notesOf(chapter.value, shown.value.chapters.chapters, noted.notes.value)]
        : [],
    ),
    /** The files whose changes in this chapter are read; the same set while it has the same paths. */
    readFiles: computed<ReadonlySet<string>>((before = new Set()) => {
      const files = Map.groupBy(hunks.value, ({ path }) => path)
      const next = new Set([...files].filter(([, some]) => some.every(isRead)).map(([path]) => path))
      return next.size === before.size && [...next].every((path) => before.has(path)) ? before : next
    }),
  }
}
