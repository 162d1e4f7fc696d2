import { computed, shallowRef, watch, type ComputedRef, type Ref } from 'vue'
import type { Chapters } from '../../../src-shared/contract/chapters.ts'
import type { Diff, DiffFile } from '../../../src-shared/contract/workspaces.ts'
import { oneAtATime } from '../../../src-shared/lang/one-at-a-time.ts'
import { readingProgress, type ChapterHunk, type ReadingProgress } from '../../model/chapters.ts'
import { useQuery, useTaskInvalidation } from '../../stores/base/query.ts'
import { useLive } from '../../stores/live.ts'
import { useTaskDetails } from '../../stores/review/task-details.ts'
import { useViewedFiles } from '../../stores/tasks/viewed-files.ts'

/** The chapters of a task's changes, and the diff of the same work. */
export interface ToldChanges {
  readonly chapters: Chapters
  readonly files: ReadonlyMap<string, DiffFile>
  /** The patch of each file whose lines are loaded. */
  readonly patches: ReadonlyMap<string, string>
}

interface ShownChanges {
  readonly diff: Readonly<Ref<Diff | null>>
  readonly files: Readonly<Ref<readonly DiffFile[]>>
  readonly patchOf: Readonly<Ref<ReadonlyMap<string, string>>>
  /** Loads the diff again. */
  readonly refresh: () => Promise<void>
}

/** The chapters to read, and how much of them is read. */
export interface ChapterReading {
  /** Null until chapters and diff of the same work are loaded. */
  readonly told: ComputedRef<ToldChanges | null>
  /** Whether the first answer is due. */
  readonly isComing: ComputedRef<boolean>
  readonly failure: Readonly<Ref<Error | null>>
  readonly isRead: (hunk: ChapterHunk) => boolean
  readonly progress: ComputedRef<ReadingProgress | null>
}

/** Returns the chapters of a task's whole branch while they are wanted; loads them again when the work changes. */
export function useChapters(taskId: () => string, isWanted: () => boolean, shown: ShownChanges): ChapterReading {
  const details = useTaskDetails()
  const news = useTaskInvalidation()
  const marks = useViewedFiles()
  const live = useLive()
  const query = useQuery(async () => {
    const id = taskId()
    return { id, chapters: await details.chapters(id) }
  })
  const hasAnswered = shallowRef(false)
  const load = oneAtATime(async () => {
    if (!isWanted()) return
    const id = taskId()
    await query.reload()
    if (id !== taskId()) return
    hasAnswered.value = true
    // The work may have changed since the diff was read.
    const tree = query.data.value?.chapters.tree
    if (shown.diff.value && tree != null && shown.diff.value.tree !== tree) await shown.refresh()
  })
  watch(
    [taskId, isWanted],
    ([id, wanted], [before] = ['', false]) => {
      if (id !== before) {
        query.clear()
        hasAnswered.value = false
      }
      if (wanted) void load()
    },
    { immediate: true },
  )
  watch(
    () => ({ base: shown.diff.value?.base, tree: shown.diff.value?.tree }),
    ({ base, tree }, before) => {
      if (!hasAnswered.value || tree === undefined) return
      const isOtherBase = before.base !== undefined && before.base !== base
      if (isOtherBase || query.data.value?.chapters.tree !== tree) void load()
    },
  )
  watch(
    () => news.changesOf(taskId(), 'chapters'),
    () => void load(),
  )
  // What was announced and marked while offline is in the next answer.
  watch(
    () => live.offline,
    () => void load(),
  )
  /** The last diff and chapters that are about the same work, so that a reader never sees one without the other. */
  const pair = computed<(ToldChanges & { readonly id: string }) | null>((before) => {
    const { id, chapters } = query.data.value ?? { id: null, chapters: null }
    const diff = shown.diff.value
    const wasTold = before?.id === taskId() && before.chapters.source !== 'files'
    // Who reads chapters keeps them until those of the changed work are ready.
    const isReady = chapters !== null && !(chapters.pending && wasTold)
    if (id === taskId() && diff && isReady && chapters.tree === diff.tree) {
      const files = new Map(shown.files.value.map((file) => [file.path, file]))
      return { id, chapters, files, patches: shown.patchOf.value }
    }
    return before?.id === taskId() ? before : null
  })
  const isRead = (hunk: ChapterHunk): boolean => marks.isHunkViewed(taskId(), hunk)
  return {
    told: pair,
    isComing: computed(() => isWanted() && pair.value === null && query.error.value === null && !hasAnswered.value),
    failure: query.error,
    isRead,
    progress: computed(() => {
      const now = pair.value?.chapters
      return now ? readingProgress(now.chapters, now.risks, isRead) : null
    }),
  }
}
