import { computed, type ComputedRef } from 'vue'
import type { DiffAnnotation, DiffPosition } from '../../components/diff/diff-notes.ts'
import type { Thread } from '../../model/comment-threads.ts'
import { useComments } from '../../stores/review/comments.ts'
import { useCommentActions } from '../../stores/review/comment-actions.ts'
import { useDrafts, useDraftText } from '../../stores/base/drafts.ts'
import { anchorOf, lineAnnotations, readPlace, type LineAnnotations } from './line-annotations.ts'

/** The comments on lines of a task's diff, and the one being written. */
export interface LineNotes {
  readonly actions: ReturnType<typeof useCommentActions>
  /** The text of the comment being written. */
  readonly text: ComputedRef<string>
  readonly type: (text: string) => void
  /** Closes the comment box; the draft is kept. */
  readonly end: () => void
  readonly notes: ComputedRef<readonly DiffAnnotation[]>
  /** Threads on files that the diff doesn't contain. */
  readonly unplacedThreads: ComputedRef<readonly Thread[]>
  /** The number of open threads by path. */
  readonly counts: ComputedRef<ReadonlyMap<string, number>>
  readonly unresolved: ComputedRef<readonly Thread[]>
  /** Returns the thread of a note. */
  readonly threadOf: (key: string) => Thread | undefined
  /** Opens the comment box at a position. */
  readonly begin: (position: DiffPosition) => void
  /** Resolves to whether the comment was saved. */
  readonly write: (body: string) => Promise<boolean>
  readonly replyOf: (key: string) => string
  /** Stores the draft of a reply. */
  readonly keepReply: (key: string, reply: string) => void
}

/** Returns the comments on lines of a task's diff and the one being written. */
export function useLineNotes(taskId: () => string, files: () => readonly { readonly path: string }[]): LineNotes {
  const comments = useComments()
  const drafts = useDrafts()
  const actions = useCommentActions(taskId)
  const threads = computed(() => comments.threads(taskId()))
  const byKey = computed(() => new Map(threads.value.map((thread) => [thread.root.id as string, thread])))
  const placeKey = () => `line-place/${taskId()}`
  const text = useDraftText(() => `line/${taskId()}`)
  const writing = computed({
    get: () => readPlace(drafts.get(placeKey())),
    set: (place) => drafts.keep(placeKey(), place && JSON.stringify(place)),
  })
  const paths = computed(() => new Set(files().map(({ path }) => path)))
  /** Keeps the same array while its annotations are equal, so that no component updates for nothing. */
  const found = computed<LineAnnotations>((before) => {
    const next = lineAnnotations(threads.value, paths.value, writing.value)
    const same = before && JSON.stringify(before.notes) === JSON.stringify(next.notes)
    return same ? { ...next, notes: before.notes } : next
  })
  return {
    actions,
    text: computed(() => text.value),
    type: (words: string): void => void (text.value = words),
    end: (): void => void (writing.value = null),
    notes: computed(() => found.value.notes),
    unplacedThreads: computed(() => found.value.unplacedThreads),
    counts: computed(() => found.value.counts),
    unresolved: computed(() => threads.value.filter(({ resolved }) => !resolved)),
    threadOf: (key: string): Thread | undefined => byKey.value.get(key),
    begin: (place: DiffPosition): void => void (writing.value = place),
    write: (body: string): Promise<boolean> => {
      const place = writing.value
      return place ? actions.write(body, anchorOf(place)) : Promise.resolve(false)
    },
    replyOf: (key: string): string => drafts.get(`reply/${key}`) ?? '',
    keepReply: (key: string, reply: string): void => drafts.keep(`reply/${key}`, reply || null),
  }
}
