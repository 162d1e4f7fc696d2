import { compareIds } from '../../src-shared/lang/compare-ids.ts'
import type { Comment, CommentAnchor, CommentState } from '../../src-shared/contract/comments.ts'

/** A comment with all its replies, in order. */
export interface Thread {
  readonly root: Comment
  readonly answers: readonly Comment[]
  /** `draft` while any comment is unsent, then the state that most needs attention. */
  readonly state: CommentState
  /** Whether all comments are resolved. */
  readonly resolved: boolean
}

/**
 * Groups a task's comments into threads, by the time of their first comment. A reply to a reply is
 * in the same thread.
 */
export function threadsOf(comments: readonly Comment[]): Thread[] {
  const inOrder = comments.toSorted((a, b) =>
    a.created_at === b.created_at ? compareIds(a.id, b.id) : a.created_at < b.created_at ? -1 : 1,
  )
  const byId = new Map(inOrder.map((comment) => [comment.id as string, comment]))
  const groups = Map.groupBy(inOrder, (comment) => rootOf(comment, byId))
  return [...groups].map(([root, all]) => ({
    root,
    answers: all.filter((comment) => comment !== root),
    state: stateOf(all),
    resolved: stateOf(all) === 'resolved',
  }))
}

/** Returns the comments that feedback would send: the agent does not have them yet. */
export function draftComments(threads: readonly Thread[]): Comment[] {
  return threads.flatMap(({ root, answers }) => [root, ...answers]).filter(({ state }) => state === 'draft')
}

/** Counts the unresolved threads by state: `1 not sent, 2 answered`. */
export function statesText(threads: readonly Thread[]): string {
  const names = { draft: 'not sent', sent: 'sent', answered: 'answered' } as const
  const open = Map.groupBy(threads, ({ state }) => state)
  return (['draft', 'sent', 'answered'] as const)
    .flatMap((state) => (open.has(state) ? [`${open.get(state)?.length} ${names[state]}`] : []))
    .join(', ')
}

function stateOf(comments: readonly Comment[]): CommentState {
  const states = new Set(comments.map(({ state }) => state))
  return (['draft', 'answered', 'sent'] as const).find((state) => states.has(state)) ?? 'resolved'
}

/** Formats a comment's lines: `line 30`, `lines 53 to 56`. */
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
