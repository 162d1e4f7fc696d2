import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { Comment } from '../../../src-shared/contract/comments.ts'
import type { CommentId } from '../../../src-shared/contract/ids.ts'
import type { MemberRole } from '../../../src-shared/contract/members.ts'
import { givenFields } from '../../../src-shared/lang/given-fields.ts'
import { invalidInput } from '../../domain/refusal.ts'
import { actorOf, type Principal } from '../../domain/access/principal.ts'
import { isAuthor, mayModerate } from '../../domain/access/work.ts'
import type { Tx } from '../../core/event-feed.ts'
import type { Comments } from '../../core/comment-records.ts'
import type { CommentRecord } from '../../ports/comment-queries.ts'
import type { ExecutionRecord } from '../../ports/execution-queries.ts'
import type { TaskRecord } from '../../ports/task-queries.ts'
import type { ApiParts, Handlers } from '../context.ts'
import { isTaskOfRun } from '../run-task.ts'
import { unwrap, findComment, findExecution, findProject, findTask, throwNotFound } from '../find.ts'

type Names =
  | 'comments.list'
  | 'comments.create'
  | 'comments.update'
  | 'comments.apply'
  | 'comments.delete'
  | 'tasks.feedback'

const given = givenFields<CommentRecord>()

export function createCommentHandlers(parts: ApiParts): Handlers<Names> {
  const { store, feed, engine, clock, newId } = parts
  const { comments } = engine
  const { read } = store
  const now = () => new Date(clock.now()).toISOString()
  const bind = (tx: Tx, task: TaskRecord, body: string): void => {
    const refusal = engine.attachments.bind(tx, task, body)
    if (refusal) throw new ApiError(refusal)
  }
  return {
    'comments.list': ({ task_id }) => ({ items: read.comments.byTask(task_id).map(comments.view) }),
    'comments.create': async (
      { task_id, body, parent_id, anchor, resolves = false, ...fields },
      { principal, signal },
    ) => {
      const original = await engine.suggestions.original(findTask(read, task_id), anchor ?? null, body, signal)
      return feed.commit((tx) => {
        const task = findTask(tx, task_id)
        const root = rootOf(tx, task, parent_id)
        if (resolves) checkResolves(tx, principal, task, root)
        const created_at = now()
        const comment: CommentRecord = {
          ...given(fields),
          id: newId() as CommentId,
          task_id,
          parent_id: parent_id ?? null,
          author: authorOf(parts, principal),
          body: redactorOf(parts, tx, task)(body),
          anchor: anchor ?? null,
          sent: null,
          answer: null,
          original,
          applied: null,
          resolved_at: resolves ? created_at : null,
          created_at,
          updated_at: created_at,
        }
        const run = root && runOf(tx, principal, task)
        const thread = root === null ? [] : [root, ...answersTo(tx, root)]
        const sent = run ? comments.noteReply(tx, task, run, comment, new Set(thread.map(({ id }) => id))) : null
        const written = { ...comment, sent }
        bind(tx, task, written.body)
        tx.comments.put(written)
        tx.emit('comment.created', { project_id: task.project_id, task_id, comment: comments.view(written) })
        if (resolves) for (const one of thread) resolve(comments, tx, task, one.id, created_at)
        return comments.view(written)
      })
    },
    'comments.update': async ({ comment_id, body, resolved, ...fields }, { principal, signal }) => {
      const known = findComment(read, comment_id)
      // An existing suggestion keeps the lines that it was made for.
      const original =
        body === undefined || known.original !== null
          ? known.original
          : await engine.suggestions.original(findTask(read, known.task_id), known.anchor, body, signal)
      return feed.commit((tx) => {
        const comment = findComment(tx, comment_id)
        const task = findTask(tx, comment.task_id)
        if (body !== undefined && !isAuthor(principal, comment)) throw notYours('Only its author may edit a comment.')
        checkMayResolve(tx, principal, task, comment)
        const edited = {
          ...comment,
          ...given(fields),
          original,
          ...(body !== undefined && asDraft(comment, redactorOf(parts, tx, task)(body))),
        }
        bind(tx, task, edited.body)
        const kept = comments.save(tx, task, comment, resolved === undefined ? edited : marked(edited, resolved, now()))
        // Resolving a thread resolves its replies too.
        if (resolved === true)
          for (const answer of answersTo(tx, comment)) resolve(comments, tx, task, answer.id, now())
        return comments.view(kept)
      })
    },
    'comments.apply': async ({ comment_id }, { principal, signal }) =>
      comments.view(unwrap(await engine.suggestions.apply(comment_id, actorOf(principal), signal))),
    'comments.delete': ({ comment_id }, { principal }) =>
      feed.commit((tx) => {
        const comment = findComment(tx, comment_id)
        const task = findTask(tx, comment.task_id)
        if (!isAuthor(principal, comment) && !mayModerate(principal, roleOf(tx, task, principal))) {
          throw notYours('Only its author, an owner of the project or an admin may delete a comment.')
        }
        const gone = [comment, ...answersTo(tx, comment)]
        tx.comments.delete(comment_id)
        for (const { id } of gone.toReversed()) {
          tx.emit('comment.deleted', { project_id: task.project_id, task_id: task.id, comment_id: id })
        }
        return null
      }),
    'tasks.feedback': async ({ task_id, comment_ids, message }, { principal, signal }) => {
      const request = {
        task_id,
        comment_ids: comment_ids ?? null,
        message: message ?? null,
        by: resolverFrom(principal),
        triggered_by: actorOf(principal),
      }
      const sent = unwrap(await engine.actions.feedback(request, signal))
      return {
        task: engine.views.task(findTask(read, task_id)),
        execution: engine.views.execution(findExecution(read, sent.execution_id)),
      }
    },
  }
}

/** Returns the first comment of the thread, or null for a comment that starts one. */
function rootOf(tx: Tx, task: TaskRecord, parent_id: CommentId | undefined): CommentRecord | null {
  if (parent_id === undefined) return null
  let root = tx.comments.get(parent_id) ?? throwNotFound('comment')
  if (root.task_id !== task.id) {
    const message = 'The comment that this one answers belongs to another task.'
    throw new ApiError(invalidInput('parent_id', message))
  }
  for (;;) {
    const parent = root.parent_id === null ? null : tx.comments.get(root.parent_id)
    if (parent === null) return root
    root = parent
  }
}

function checkResolves(tx: Tx, principal: Principal, task: TaskRecord, root: CommentRecord | null): void {
  if (root === null)
    throw new ApiError(invalidInput('resolves', 'Only an answer resolves a thread. Name its parent_id.'))
  checkMayResolve(tx, principal, task, root)
}

function checkMayResolve(tx: Tx, principal: Principal, task: TaskRecord, comment: CommentRecord): void {
  if (principal.kind !== 'agent' || isAuthor(principal, comment) || isTaskOfRun(tx, principal, task)) return
  throw notYours('An agent may resolve comments on its own task, and its own comments elsewhere.')
}

/** Returns the run that the caller acts in: an agent's own, or the one a person has open. */
function runOf(tx: Tx, principal: Principal, task: TaskRecord): ExecutionRecord | null {
  if (principal.kind === 'agent') {
    const run = tx.executions.get(principal.execution_id)
    return run?.task_id === task.id ? run : null
  }
  if (principal.kind !== 'user') return null
  return tx.executions.openOfTask(task.id).find((run) => run.user_id === principal.user_id) ?? null
}

function authorOf(parts: ApiParts, principal: Principal): Comment['author'] {
  switch (principal.kind) {
    case 'agent': {
      const agent = parts.store.read.agents.get(principal.agent_id)
      return { type: 'agent', id: principal.agent_id, name: agent?.name ?? 'A deleted agent' }
    }
    case 'user': {
      const user = parts.identity.users.get(principal.user_id)
      return { type: 'user', id: principal.user_id, name: user?.display_name ?? principal.handle }
    }
    case 'operator':
      return { type: 'operator', id: null, name: 'Local operator' }
    case 'daemon':
    case 'anonymous':
      throw new ApiError({ code: 'missing_token', message: 'Send a token: Authorization: Bearer …' })
  }
}

function roleOf(tx: Tx, task: TaskRecord, principal: Principal): MemberRole | null {
  return principal.kind === 'user' ? tx.members.role(task.project_id, principal.user_id) : null
}

function notYours(message: string): ApiError {
  return new ApiError({ code: 'forbidden', message })
}

function resolverFrom(principal: Principal) {
  return principal.kind === 'user'
    ? ({ type: 'user', id: principal.user_id } as const)
    : ({ type: 'operator' } as const)
}

function redactorOf(parts: ApiParts, tx: Tx, task: TaskRecord): (text: string) => string {
  return parts.redactor(parts.engine.views.settings(findProject(tx, task.project_id)).redaction_patterns)
}

/** Marks a comment as resolved or open; resolving again keeps the first time. */
function marked(comment: CommentRecord, resolved: boolean, now: string): CommentRecord {
  return { ...comment, resolved_at: resolved ? (comment.resolved_at ?? now) : null }
}

function resolve({ save }: Comments, tx: Tx, task: TaskRecord, id: CommentId, now: string): void {
  const comment = tx.comments.get(id)
  if (comment) save(tx, task, comment, marked(comment, true, now))
}

/** Returns the fields of an edited comment: a changed text must be sent again. */
function asDraft({ body: before, sent, answer }: CommentRecord, body: string) {
  return body === before ? { body, sent, answer } : { body, sent: null, answer: null }
}

/** Returns all replies to a comment and theirs, each before its own. */
function answersTo(tx: Tx, comment: CommentRecord): CommentRecord[] {
  const byParent = Map.groupBy(tx.comments.byTask(comment.task_id), ({ parent_id }) => parent_id)
  const found: CommentRecord[] = [...(byParent.get(comment.id) ?? [])]
  // The list grows during the loop, which visits added items too.
  for (const answer of found) found.push(...(byParent.get(answer.id) ?? []))
  return found
}
