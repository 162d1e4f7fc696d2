import type { CommentId } from '../../../src-shared/contract/ids.ts'
import type { CommentAnchor } from '../../../src-shared/contract/comments.ts'

/** The fields of a comment that feedback uses. */
export interface FeedbackComment {
  readonly id: CommentId
  readonly parent_id: CommentId | null
  readonly author: { readonly name: string }
  readonly body: string
  readonly anchor: CommentAnchor | null
}

/**
 * Returns the whole threads of the chosen comments, in order, because a reply is hard to understand without its
 * comment.
 * `comments` are all those of a task, oldest first.
 */
export function threadsOf<C extends FeedbackComment>(
  comments: readonly C[],
  chosen: ReadonlySet<CommentId>,
): readonly (readonly C[])[] {
  const byId = new Map(comments.map((comment) => [comment.id, comment]))
  const threads = Map.groupBy(comments, (comment) => rootOf(comment, byId))
  return [...threads.values()].filter((thread) => thread.some((comment) => chosen.has(comment.id)))
}

/** Returns the feedback for the coder: the message first, then every thread with its file and line. */
export function feedbackText(threads: readonly (readonly FeedbackComment[])[], message: string | null): string {
  const parts = message === null ? [] : [message]
  for (const thread of threads) parts.push(threadText(thread))
  return parts.join('\n\n')
}

function rootOf<C extends FeedbackComment>(comment: C, byId: ReadonlyMap<CommentId, C>): CommentId {
  let root = comment
  for (;;) {
    const parent = root.parent_id === null ? undefined : byId.get(root.parent_id)
    if (!parent) return root.id
    root = parent
  }
}

function threadText(thread: readonly FeedbackComment[]): string {
  return thread
    .map((comment, index) => {
      const place = comment.anchor ? `${anchorText(comment.anchor)}\n` : ''
      return index === 0 ? `${place}${comment.body}` : quote(`${place}${comment.author.name} answered: ${comment.body}`)
    })
    .join('\n\n')
}

function anchorText({ path, line, start_line = line, side }: CommentAnchor): string {
  const lines = start_line === line ? line : `${start_line}-${line}`
  return `\`${path}:${lines}\`${side === 'old' ? ' (as it was before the change)' : ''}`
}

/** Quotes every line, to separate a reply from the other comments. */
function quote(text: string): string {
  return text
    .split('\n')
    .map((line) => (line === '' ? '>' : `> ${line}`))
    .join('\n')
}
