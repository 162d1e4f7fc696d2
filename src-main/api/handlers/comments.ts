import { ApiError } from '../../../src-shared/contract/errors.ts'
import type { Comment } from '../../../src-shared/contract/comments.ts'
import type { CommentId } from '../../../src-shared/contract/ids.ts'
import type { MemberRole } from '../../../src-shared/contract/members.ts'
import { givenFields } from '../../../src-shared/lang/given-fields.ts'
import { invalidInput } from '../../domain/refusal.ts'
import { actorOf, type Principal } from '../../domain/access/principal.ts'
import { isAuthor, mayModerate } from '../../domain/access/work.ts'
import type { Tx } from '../../core/event-feed.ts'
import type { CommentRecord, TaskRecord } from '../../ports/store.ts'
import type { ApiParts, Handlers } from '../context.ts'
import { isTaskOfRun } from '../run-task.ts'
import { unwrap, findComment, findExecution, findProject, findTask, throwNotFound } from '../find.ts'

type Names = 'comments.list' | 'comments.create' | 'comments.update' | 'comments.delete' | 'tasks.feedback'

const given = givenFields<CommentRecord>()

export function createCommentHandlers(parts: ApiParts): Handlers<Names> {
  const { store, feed, engine, clock, newId } = parts
  const { read } = store
  const now = () => new Date(clock.now()).toISOString()
  return {
    'comments.list': ({ task_id }) => ({ items: [...read.comments.byTask(task_id)] }),
    'comments.create': ({ task_id, body, parent_id, anchor, ...fields }, { principal }) =>
      feed.commit((tx) => {
        const task = findTask(tx, task_id)
        checkParent(tx, task, parent_id)
        const created_at = now()
        const comment: CommentRecord = {
          ...given(fields),
          id: newId() as CommentId,
          task_id,
          parent_id: parent_id ?? null,
          author: authorOf(parts, principal),
          body: redactorOf(parts, tx, task)(body),
          anchor: anchor ?? null,
          resolved_at: null,
          created_at,
          updated_at: created_at,
        }
        tx.comments.put(comment)
        tx.emit('comment.created', { project_id: task.project_id, task_id, comment })
        return comment
      }),
    'comments.update': ({ comment_id, body, resolved, ...fields }, { principal }) =>
      feed.commit((tx) => {
        const comment = findComment(tx, comment_id)
        const task = findTask(tx, comment.task_id)
        if (body !== undefined && !isAuthor(principal, comment)) throw notYours('Only its author may edit a comment.')
        if (principal.kind === 'agent' && !isAuthor(principal, comment) && !isTaskOfRun(tx, principal, task)) {
          throw notYours('An agent may resolve comments on its own task, and its own comments elsewhere.')
        }
        const edited = {
          ...comment,
          ...given(fields),
          ...(body !== undefined && { body: redactorOf(parts, tx, task)(body) }),
        }
        const kept = put(tx, task, comment, resolved === undefined ? edited : marked(edited, resolved, now()), now())
        // Whoever closes a thread is done with its answers too.
        if (resolved === true) {
          for (const answer of answersTo(tx, comment)) put(tx, task, answer, marked(answer, true, now()), now())
        }
        return kept
      }),
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
        by: judgeOf(principal),
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

function checkParent(tx: Tx, task: TaskRecord, parent_id: CommentId | undefined): void {
  if (parent_id === undefined) return
  const parent = tx.comments.get(parent_id) ?? throwNotFound('comment')
  if (parent.task_id === task.id) return
  const message = 'The comment that this one answers belongs to another task.'
  throw new ApiError(invalidInput('parent_id', message))
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

function judgeOf(principal: Principal) {
  return principal.kind === 'user'
    ? ({ type: 'user', id: principal.user_id } as const)
    : ({ type: 'operator' } as const)
}

function redactorOf(parts: ApiParts, tx: Tx, task: TaskRecord): (text: string) => string {
  return parts.redactor(parts.engine.views.settings(findProject(tx, task.project_id)).redaction_patterns)
}

/** Resolving twice keeps the first time. */
function marked(comment: CommentRecord, resolved: boolean, now: string): CommentRecord {
  return { ...comment, resolved_at: resolved ? (comment.resolved_at ?? now) : null }
}

/** Writes a comment that differs from what it was, and says so. */
function put(tx: Tx, task: TaskRecord, before: CommentRecord, after: CommentRecord, now: string): CommentRecord {
  if (before.body === after.body && before.resolved_at === after.resolved_at) return before
  const comment = { ...after, updated_at: now }
  tx.comments.put(comment)
  tx.emit('comment.updated', { project_id: task.project_id, task_id: task.id, comment })
  return comment
}

/** All answers to a comment, and theirs, each before its own. */
function answersTo(tx: Tx, comment: CommentRecord): CommentRecord[] {
  const byParent = Map.groupBy(tx.comments.byTask(comment.task_id), ({ parent_id }) => parent_id)
  const found: CommentRecord[] = [...(byParent.get(comment.id) ?? [])]
  // The list grows while it is walked, and the walk sees what was added.
  for (const answer of found) found.push(...(byParent.get(answer.id) ?? []))
  return found
}
