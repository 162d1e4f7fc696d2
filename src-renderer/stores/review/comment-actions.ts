import type { Comment, CommentAnchor } from '../../../src-shared/contract/comments.ts'
import { useComments } from './comments.ts'
import { useDrafts } from '../base/drafts.ts'
import { useLive } from '../live.ts'
import { usePeople } from '../people/people.ts'
import { useTasks } from '../tasks/tasks.ts'
import { useToasts } from '../base/toasts.ts'

/** What a person does with the comments of a task. Each answers whether it went well; a refusal is said in a toast. */
export function useCommentActions(taskId: () => string) {
  const comments = useComments()
  const drafts = useDrafts()
  const people = usePeople()
  const toasts = useToasts()
  const live = useLive()
  const tasks = useTasks()

  return {
    isMine: comments.isMine,
    face: people.author,
    write: (body: string, anchor?: CommentAnchor) =>
      toasts.attempt('Couldn’t add the comment.', () =>
        comments.create({ task_id: taskId(), body, ...(anchor && { anchor }) }),
      ),
    reply: (to: Comment, body: string) =>
      toasts.attempt('Couldn’t add the reply.', () => comments.create({ task_id: to.task_id, parent_id: to.id, body })),
    /** What is being made of a comment; null while nobody changes it. */
    draftOf: (comment: Comment): string | null => drafts.get(editKey(comment)),
    keepDraft: (comment: Comment, text: string | null): void => drafts.keep(editKey(comment), text),
    edit: (comment: Comment, body: string) =>
      toasts.attempt('Couldn’t change the comment.', () => comments.edit(comment.id, body)),
    resolve: (comment: Comment, on: boolean) =>
      toasts.attempt(on ? 'Couldn’t resolve it.' : 'Couldn’t reopen it.', () => comments.resolve(comment.id, on)),
    /** Why no suggestion can be applied now; null where one can. */
    applyRefusal: (): string | null =>
      live.refusal ?? (tasks.byId.get(taskId())?.active_execution_id ? 'An agent is using this worktree' : null),
    apply: (comment: Comment) => toasts.attempt('Couldn’t apply the suggestion.', () => comments.apply(comment.id)),
    remove: comments.deleteLater,
  }
}

const editKey = ({ id }: Comment) => `edit/${id}`
