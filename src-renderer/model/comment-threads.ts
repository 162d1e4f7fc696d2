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

/**
 * Returns the comments that a request for changes would send: the agent does not have them yet. What others said of
 * the task as a whole is not for the agent.
 */
export function draftComments(threads: readonly Thread[], isMine: (comment: Comment) => boolean): Comment[] {
  return threads
    .flatMap(({ root, answers }) => [root, ...answers].map((comment) => ({ comment, isOnLine: root.anchor !== null })))
    .flatMap(({ comment, isOnLine }) => (comment.state === 'draft' && (isOnLine || isMine(comment)) ? [comment] : []))
}

/** Where a thread is, for its owner: `Line changed` is no answer. */
type Progress = 'not sent' | 'sent' | 'line changed' | 'answered'

export function progressOf({ state, root, answers }: Omit<Thread, 'resolved'>): Progress | null {
  if (state === 'resolved') return null
  if (state === 'draft') return 'not sent'
  if (state === 'sent') return 'sent'
  return [root, ...answers].some(({ answer }) => answer?.comment_id != null) ? 'answered' : 'line changed'
}

const progressTexts = { sent: 'Sent to the agent', answered: 'Answered', 'line changed': 'Line changed' } as const

/** Says how far a thread is; null where its draft or its end says so. */
export function progressText(thread: Omit<Thread, 'resolved'>): string | null {
  const progress = progressOf(thread)
  return progress === null || progress === 'not sent' ? null : progressTexts[progress]
}

/** Counts the unresolved threads by progress: `1 not sent, 2 answered`. */
export function statesText(threads: readonly Thread[]): string {
  const open = Map.groupBy(threads, progressOf)
  return (['not sent', 'sent', 'line changed', 'answered'] as const)
    .flatMap((progress) => (open.has(progress) ? [`${open.get(progress)?.length} ${progress}`] : []))
    .join(', ')
}

/** Formats the place of a comment: `src/cart.ts:12`, `src/cart.ts:12-14`. */
export function anchorText(anchor: CommentAnchor | null): string {
  if (anchor === null) return 'On the task'
  const { path, line, start_line = line } = anchor
  return `${path}:${start_line === line ? line : `${start_line}-${line}`}`
}

/** Returns the beginning of a comment, in one line. */
export function firstWords(body: string): string {
  const words = body
    .replaceAll(/^```.*$/gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return words.length > 120 ? `${words.slice(0, 119).trimEnd()}…` : words
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
