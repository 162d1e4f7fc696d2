import type { Comment, CommentAnchor } from '../../../src-shared/contract/comments.ts'
import { useComments } from './comments.ts'
import { useDrafts } from '../base/drafts.ts'
import { useLive } from '../live.ts'
import { usePeople } from '../people/people.ts'
import { useTasks } from '../tasks/tasks.ts'
import { useToasts } from '../base/toasts.ts'

/** The user's actions on a task's comments. Each returns whether it succeeded; a toast shows a refusal. */
export function useCommentActions(taskId: () => string) {
  const comments = useComments()
  const drafts = useDrafts()
  const people = usePeople()
  const toasts = useToasts()
  const live = useLive()
  const tasks = useTasks()

  function attempt(failed: string, work: () => Promise<unknown>): Promise<boolean> {
    const task = tasks.byId.get(taskId())
    return task ? toasts.attemptOn(task, failed, work) : toasts.attempt(`${failed}.`, work)
  }
  return {
    isMine: comments.isMine,
    face: people.author,
    write: (body: string, anchor?: CommentAnchor) =>
      attempt('Couldn’t add the comment', () =>
        comments.create({ task_id: taskId(), body, ...(anchor && { anchor }) }),
      ),
    reply: (to: Comment, body: string) =>
      attempt('Couldn’t add the reply', () => comments.create({ task_id: to.task_id, parent_id: to.id, body })),
    /** Returns the edited text of a comment; null if it is not being edited. */
    draftOf: (comment: Comment): string | null => drafts.get(editKey(comment)),
    keepDraft: (comment: Comment, text: string | null): void => drafts.keep(editKey(comment), text),
    edit: (comment: Comment, body: string) =>
      attempt('Couldn’t change the comment', () => comments.edit(comment.id, body)),
    resolve: (comment: Comment, on: boolean) =>
      attempt(on ? 'Couldn’t resolve it' : 'Couldn’t reopen it', () => comments.resolve(comment.id, on)),
    /** Returns why suggestions can't be applied now; null if they can. */
    applyRefusal: (): string | null =>
      live.refusal ?? (tasks.byId.get(taskId())?.active_execution_id ? 'An agent is using this worktree' : null),
    apply: (comment: Comment) => attempt('Couldn’t apply the suggestion', () => comments.apply(comment.id)),
    remove: comments.deleteLater,
  }
}

const editKey = ({ id }: Comment) => `edit/${id}`
