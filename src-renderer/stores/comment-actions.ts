import type { Comment, CommentAnchor } from '../../src-shared/contract/comments.ts'
import type { Face } from './people.ts'
import { useComments } from './comments.ts'
import { useSession } from './session.ts'
import { useToasts } from './toasts.ts'

/** What a person does with the comments of a task. Each answers whether it went well; a refusal is said in a toast. */
export function useCommentActions(taskId: () => string) {
  const comments = useComments()
  const session = useSession()
  const toasts = useToasts()

  async function tried(work: Promise<unknown>, failure: string): Promise<boolean> {
    try {
      await work
      return true
    } catch (error) {
      toasts.refused(error, failure)
      return false
    }
  }
  return {
    isMine: comments.isMine,
    face: ({ author }: Comment): Face => ({
      name: author.type === 'operator' ? session.myName : author.name,
      kind: author.type === 'agent' ? 'agent' : 'person',
    }),
    write: (body: string, anchor?: CommentAnchor) =>
      tried(comments.create({ task_id: taskId(), body, ...(anchor && { anchor }) }), 'The comment was not written.'),
    reply: (to: Comment, body: string) =>
      tried(comments.create({ task_id: to.task_id, parent_id: to.id, body }), 'The answer was not written.'),
    edit: (comment: Comment, body: string) => tried(comments.edit(comment.id, body), 'The comment was not changed.'),
    resolve: (comment: Comment, on: boolean) =>
      tried(comments.resolve(comment.id, on), on ? 'It is not resolved.' : 'It is still resolved.'),
    remove: comments.deleteLater,
  }
}

/** What `CommentThread` is given to act with. */
export type CommentActions = Omit<ReturnType<typeof useCommentActions>, 'write'>
