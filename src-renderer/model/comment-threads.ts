import type { Comment, CommentAnchor } from '../../src-shared/contract/comments.ts'

/** A comment with all that was answered to it, in order. */
export interface Thread {
  readonly root: Comment
  readonly answers: readonly Comment[]
  /** Nobody need do anything about it any more. */
  readonly resolved: boolean
}

/** The threads of a task's comments, by when they began; an answer to an answer is in the same thread. */
export function threadsOf(comments: readonly Comment[]): Thread[] {
  const inOrder = comments.toSorted((a, b) =>
    a.created_at === b.created_at ? (a.id < b.id ? -1 : 1) : a.created_at < b.created_at ? -1 : 1,
  )
  const byId = new Map(inOrder.map((comment) => [comment.id as string, comment]))
  const groups = Map.groupBy(inOrder, (comment) => rootOf(comment, byId))
  return [...groups].map(([root, all]) => ({
    root,
    answers: all.filter((comment) => comment !== root),
    resolved: all.every(({ resolved_at }) => resolved_at !== null),
  }))
}

/** The comments that feedback would bring to the agent: of every thread that is not resolved, those that are open. */
export function openComments(threads: readonly Thread[]): Comment[] {
  return threads.flatMap(({ root, answers }) => [root, ...answers]).filter(({ resolved_at }) => resolved_at === null)
}

/** `line 30`, `lines 53 to 56`. */
export function linesOf({ line, start_line = line }: CommentAnchor): string {
  return start_line === line ? `line ${line}` : `lines ${start_line} to ${line}`
}

function rootOf(comment: Comment, byId: ReadonlyMap<string, Comment>): Comment {
  let root = comment
  const seen = new Set<Comment>()
  for (;;) {
    seen.add(root)
    const parent = root.parent_id === null ? undefined : byId.get(root.parent_id)
    if (!parent || seen.has(parent)) return root
    root = parent
  }
}
