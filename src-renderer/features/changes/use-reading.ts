import { computed, ref, shallowRef, watch, type ComputedRef, type Ref } from 'vue'
import type { Chapter } from '../../../src-shared/contract/chapters.ts'
import { chapterAfter, newHunks, nextUnread, shownOrder, type ChapterHunk } from '../../model/chapters.ts'
import type { ToldChanges } from './use-chapters.ts'

interface Ports {
  told(): ToldChanges
  isRead(hunk: ChapterHunk): boolean
}

/** Where a person is in the chapters of a change. */
export interface Reading {
  /** The newest chapters. */
  readonly shown: Readonly<Ref<ToldChanges>>
  /** The open chapter; null at the end. */
  readonly chapter: ComputedRef<Chapter | null>
  readonly rank: ComputedRef<number>
  readonly hunk: Readonly<Ref<string | null>>
  /** Counts the pages that were opened; each begins at its top. */
  readonly page: Readonly<Ref<number>>
  /** The hunks that came or changed while the reader was here. */
  readonly changed: Readonly<Ref<ReadonlySet<string>>>
  /** Whether the work changed while the reader was here. */
  readonly hasChanged: Readonly<Ref<boolean>>
  readonly seeChange: () => void
  /** Opens a chapter; null opens the end. */
  readonly open: (chapter: Chapter | null, hunk?: string | null) => void
  readonly step: (by: 1 | -1) => void
  /** Opens the chapter of the next hunk that isn't read, or the end; returns the hunk. */
  readonly goToUnread: () => ChapterHunk | null
  /** Makes the next or previous hunk the current one, also of another chapter; returns it. */
  readonly stepHunk: (by: 1 | -1) => ChapterHunk | null
  /** Notes which hunk the reader is at. */
  readonly at: (hunk: string | null) => void
}

/** Keeps the reader's place in chapters that may change at any time. */
export function useReading({ told, isRead }: Ports): Reading {
  const shown = shallowRef(told())
  const first = shown.value.chapters.chapters[0] ?? null
  /** The id of the open chapter; null at the end. */
  const open = ref<string | null>(
    nextUnread(shown.value.chapters.chapters, { chapter: null, hunk: null }, isRead)?.chapter.id ?? first?.id ?? null,
  )
  const hunk = ref<string | null>(null)
  const page = ref(0)
  const changed = shallowRef<ReadonlySet<string>>(new Set())
  const hasChanged = ref(false)
  const all = computed(() => shown.value.chapters.chapters)
  const rank = computed(() => all.value.findIndex(({ id }) => id === open.value))
  const chapter = computed(() => all.value[rank.value] ?? null)

  function show(id: string | null, at: string | null): void {
    open.value = id
    hunk.value = at
    page.value += 1
  }
  /** Shows other chapters with the reader in the same place. */
  function take(next: ToldChanges): void {
    const before = chapter.value
    const isOther = next.chapters.tree !== shown.value.chapters.tree
    const fresh = isOther ? newHunks(all.value, next.chapters.chapters) : new Set<string>()
    const now = new Set(next.chapters.chapters.flatMap(({ hunks }) => hunks.map(({ id }) => id)))
    const place = before && chapterAfter(before, rank.value, hunk.value, next.chapters.chapters)
    shown.value = next
    if (hunk.value !== null && !now.has(hunk.value)) hunk.value = null
    if (isOther) {
      changed.value = new Set([...changed.value, ...fresh].filter((id) => now.has(id)))
      hasChanged.value = true
    }
    if (before !== null) open.value = place?.id ?? null
  }
  watch(told, take)
  return {
    shown,
    chapter,
    rank,
    hunk,
    page,
    changed,
    hasChanged,
    seeChange: () => void (hasChanged.value = false),
    open: (next, at = null) => show(next?.id ?? null, at),
    step: (by) => {
      const last = all.value.length
      const now = chapter.value === null ? last : rank.value
      const next = Math.min(last, Math.max(0, now + by))
      if (next !== now) show(all.value[next]?.id ?? null, null)
    },
    goToUnread: () => {
      const next = nextUnread(all.value, { chapter: open.value, hunk: hunk.value }, isRead)
      if (next === null) show(null, null)
      else if (next.chapter.id !== open.value) show(next.chapter.id, next.hunk.id)
      else hunk.value = next.hunk.id
      return next?.hunk ?? null
    },
    stepHunk: (by) => {
      const steps = all.value.filter(({ folded, id }) => !folded || id === open.value)
      const places = steps.flatMap((one) => shownOrder(one).map((each) => ({ chapter: one, hunk: each })))
      const now = places.findIndex((one) => one.hunk.id === hunk.value)
      const begin = open.value === null ? places.length : places.findIndex((one) => one.chapter.id === open.value)
      const next = places[now >= 0 ? now + by : by === 1 ? begin : begin - 1]
      if (!next) return null
      if (next.chapter.id !== open.value) show(next.chapter.id, next.hunk.id)
      else hunk.value = next.hunk.id
      return next.hunk
    },
    at: (id) => void (hunk.value = id),
  }
}
