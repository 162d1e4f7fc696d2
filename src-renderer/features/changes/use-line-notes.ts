import { computed } from 'vue'
import type { DiffPosition } from '../../components/diff/diff-notes.ts'
import { draftComments, type Thread } from '../../model/comment-threads.ts'
import { useComments } from '../../stores/review/comments.ts'
import { useCommentActions } from '../../stores/review/comment-actions.ts'
import { useDrafts, useDraftText } from '../../stores/base/drafts.ts'
import { anchorOf, lineAnnotations, readPlace, type LineAnnotations } from './line-annotations.ts'

/** Returns the comments on lines of a task's diff and the one being written. */
export function useLineNotes(taskId: () => string, files: () => readonly { readonly path: string }[]) {
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
    /** Closes the comment box; the draft is kept. */
    end: (): void => void (writing.value = null),
    notes: computed(() => found.value.notes),
    strays: computed(() => found.value.unplacedThreads),
    counts: computed(() => found.value.counts),
    drafts: computed(() => draftComments(threads.value)),
    unresolved: computed(() => threads.value.filter(({ resolved }) => !resolved)),
    threadOf: (key: string): Thread | undefined => byKey.value.get(key),
    begin: (place: DiffPosition): void => void (writing.value = place),
    /** Resolves to whether the comment was saved. */
    write: (body: string): Promise<boolean> => {
      const place = writing.value
      return place ? actions.write(body, anchorOf(place)) : Promise.resolve(false)
    },
    replyOf: (key: string): string => drafts.get(`reply/${key}`) ?? '',
    keepReply: (key: string, reply: string): void => drafts.keep(`reply/${key}`, reply || null),
  }
}
