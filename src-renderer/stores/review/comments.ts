import { defineStore } from 'pinia'
import { shallowReactive } from 'vue'
import type { Comment, CommentAnchor } from '../../../src-shared/contract/comments.ts'
import type { CommentId } from '../../../src-shared/contract/ids.ts'
import { draftComments, threadsOf, type Thread } from '../../model/comment-threads.ts'
import { useClient } from '../base/client.ts'
import { useDesktop } from '../device/desktop.ts'
import { useSession } from '../base/session.ts'
import { useToasts } from '../base/toasts.ts'

/** What a request for changes says: comments that were not sent yet, and more words. */
export interface RequestedChanges {
  readonly comment_ids: readonly CommentId[]
  readonly message: string
}

/** The comments on tasks and their changes, in threads. */
export const useComments = defineStore('comments', () => {
  const client = useClient()
  const desktop = useDesktop()
  const session = useSession()
  const toasts = useToasts()
  const byTask = shallowReactive(new Map<string, ReadonlyMap<string, Comment>>())
  /** The IDs of comments that the user deleted but can still restore. */
  const hidden = shallowReactive(new Set<string>())
  /** The IDs of deleted comments, so late replies and events don't restore them. */
  const gone = new Set<string>()

  function put(comment: Comment): void {
    const known = byTask.get(comment.task_id)?.get(comment.id)
    if (gone.has(comment.id) || (known && known.updated_at > comment.updated_at)) return
    byTask.set(comment.task_id, new Map(byTask.get(comment.task_id)).set(comment.id, comment))
  }
  function remove(taskId: string, commentId: string): void {
    gone.add(commentId)
    const remaining = new Map(byTask.get(taskId))
    if (remaining.delete(commentId)) byTask.set(taskId, remaining)
  }
  function threads(taskId: string): Thread[] {
    const known = [...(byTask.get(taskId)?.values() ?? [])]
    return threadsOf(known.filter((comment) => !isHidden(comment, byTask.get(taskId))))
  }
  function isHidden(comment: Comment, known: ReadonlyMap<string, Comment> | undefined): boolean {
    for (let one: Comment | undefined = comment; one; one = known?.get(one.parent_id ?? '')) {
      if (hidden.has(one.id)) return true
    }
    return false
  }
  async function load(taskId: string): Promise<void> {
    const before = [...(byTask.get(taskId)?.values() ?? [])]
    const { items } = await client.call('comments.list', { task_id: taskId })
    const listed = new Set<string>(items.map(({ id }) => id))
    for (const { id } of before) if (!listed.has(id)) remove(taskId, id)
    for (const comment of items) put(comment)
  }
  async function destroy({ id, task_id }: Comment): Promise<void> {
    try {
      await client.call('comments.delete', { comment_id: id })
      remove(task_id, id)
    } catch (error) {
      toasts.refused(error, 'Couldn’t delete the comment.')
    } finally {
      hidden.delete(id)
    }
  }
  /** Returns whether the current user wrote the comment. */
  const isMine = ({ author }: Comment): boolean =>
    session.me ? author.id === session.me.id || (author.type === 'operator' && desktop.present) : author.id === null
  return {
    put,
    remove,
    load,
    threads,
    isMine,
    /** The comments of a task that a request for changes would send. */
    drafts: (taskId: string): Comment[] => draftComments(threads(taskId), isMine),
    removeTask: (taskId: string): void => void byTask.delete(taskId),
    create: async (input: {
      task_id: string
      body: string
      parent_id?: CommentId
      anchor?: CommentAnchor
    }): Promise<void> => put(await client.call('comments.create', input)),
    edit: async (commentId: string, body: string): Promise<void> =>
      put(await client.call('comments.update', { comment_id: commentId, body })),
    apply: async (commentId: string): Promise<void> =>
      put(await client.call('comments.apply', { comment_id: commentId })),
    resolve: async (commentId: string, resolved: boolean): Promise<void> =>
      put(await client.call('comments.update', { comment_id: commentId, resolved })),
    /** Hides a comment at once, and deletes it when its toast closes without Undo. */
    deleteLater(comment: Comment): void {
      hidden.add(comment.id)
      toasts.done('Comment deleted', {
        label: 'Undo',
        run: () => void hidden.delete(comment.id),
        left: () => void destroy(comment),
      })
    },
  }
})
