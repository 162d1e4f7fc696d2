import { failure, field, findPull, hasPull, look, notFound, page, text } from './context.ts'
import type { Context, PullIssue, Route } from './context.ts'
import { showCodeComment, showReview } from './show.ts'
import { isForgejo, mayWrite, minorVersion, nextId, nextTime, rightOf } from './state.ts'
import type { CodeComment, Review, State } from './state.ts'

export const reviewRoutes: readonly Route[] = [
  { method: 'GET', path: /^\/pulls\/(\d+)\/reviews$/, scope: 'repository', answer: listReviews },
  { method: 'POST', path: /^\/pulls\/(\d+)\/reviews$/, scope: 'repository', answer: createReview },
  { method: 'GET', path: /^\/pulls\/(\d+)\/reviews\/(\d+)\/comments$/, scope: 'repository', answer: listCodeComments },
  { method: 'POST', path: /^\/pulls\/(\d+)\/reviews\/(\d+)\/comments$/, scope: 'repository', answer: joinReview },
  { method: 'POST', path: /^\/pulls\/(\d+)\/comments\/(\d+)\/replies$/, scope: 'repository', answer: reply },
  { method: 'POST', path: /^\/pulls\/comments\/(\d+)\/resolve$/, scope: 'repository', answer: resolve },
  { method: 'POST', path: /^\/pulls\/(\d+)\/requested_reviewers$/, scope: 'repository', answer: requestReviewers },
]

const pageOf = ({ url, repository }: Context, issue: PullIssue) => `${url}/${repository.fullName}/pulls/${issue.number}`

/** Others' unfinished reviews are counted, but not shown. This list has no `Link`. */
function listReviews(context: Context) {
  const issue = findPull(context, context.params[0] ?? '')
  if (!issue) return notFound()
  const { reviews } = issue.pull
  const shown = reviews.filter(({ state, user }) => state !== 'PENDING' || user === context.login)
  return page(
    context,
    shown.map((review) => showReview(review, issue.pull)),
    { hasLinks: false, hidden: reviews.length - shown.length },
  )
}

function listCodeComments(context: Context) {
  const issue = findPull(context, context.params[0] ?? '')
  const review = issue?.pull.reviews.find(({ id }) => id === Number(context.params[1]))
  if (!issue || !review) return notFound()
  const comments = issue.pull.codeComments.filter((comment) => comment.review === review.id)
  // It keeps them in a map: they come in no order.
  const mixed = [...comments].sort((a, b) => Number(a.id % 3) - Number(b.id % 3))
  return { status: 200, body: mixed.map((comment) => showCodeComment(pageOf(context, issue), comment)) }
}

interface Line {
  readonly path: string
  readonly body: string
  readonly line: number
}

function readLine(value: unknown): Line {
  const fields = value as Readonly<Record<string, unknown>>
  const old = Number(fields['old_position'] ?? 0)
  return {
    path: String(fields['path']),
    body: String(fields['body']),
    line: old > 0 ? -old : Number(fields['new_position'] ?? 0),
  }
}

/** Writes on lines, into a review that isn't submitted, and submits it: with what its author had in it. */
async function createReview(context: Context) {
  const { state, request, login, repository } = context
  const issue = findPull(context, context.params[0] ?? '')
  if (!issue) return notFound()
  await look(state, repository, issue)
  const event = text(request, 'event')
  const comments = field(request, 'comments')
  const lines = Array.isArray(comments) ? comments.map(readLine) : []
  if ((event === 'APPROVED' || event === 'REQUEST_CHANGES') && issue.user === login) {
    return failure(422, `${event === 'APPROVED' ? 'approve' : 'reject'} your own pull is not allowed`)
  }
  if (event === 'COMMENT' && text(request, 'body').trim() === '' && lines.length === 0) {
    return failure(422, `review event ${event} requires a body or a comment`)
  }
  const review = pendingReview(state, issue, login)
  for (const line of lines) addCodeComment(state, issue, { ...line, review: review.id, user: login })
  review.body = text(request, 'body')
  review.state = event === 'APPROVED' || event === 'REQUEST_CHANGES' || event === 'COMMENT' ? event : 'PENDING'
  issue.updated_at = nextTime(state)
  return { status: 200, body: showReview(review, issue.pull) }
}

export function pendingReview(state: State, issue: PullIssue, user: string): Review {
  const known = issue.pull.reviews.find((review) => review.state === 'PENDING' && review.user === user)
  if (known) return known
  const review: Review = {
    id: nextId(state),
    user,
    state: 'PENDING',
    body: '',
    commit: issue.pull.commit,
    stale: false,
    dismissed: false,
    created_at: nextTime(state),
  }
  issue.pull.reviews.push(review)
  return review
}

export function addCodeComment(
  state: State,
  issue: PullIssue,
  line: Line & { readonly review: number; readonly user: string },
): CodeComment {
  const { codeComments, commit } = issue.pull
  const same = codeComments.find(
    (each) => each.review === line.review && each.path === line.path && each.line === line.line,
  )
  const comment: CodeComment = {
    ...line,
    id: nextId(state),
    commit: same?.commit ?? commit,
    created_at: nextTime(state),
    resolver: null,
  }
  codeComments.push(comment)
  return comment
}

/** Forgejo only. */
function joinReview(context: Context) {
  const { state, request, login } = context
  const issue = findPull(context, context.params[0] ?? '')
  const review = issue?.pull.reviews.find(({ id }) => id === Number(context.params[1]))
  if (!isForgejo(state) || !issue || !review) return notFound()
  const comment = addCodeComment(state, issue, { ...readLine(request.body), review: review.id, user: login })
  return { status: 200, body: showCodeComment(pageOf(context, issue), comment) }
}

/** From 1.27. */
function reply(context: Context) {
  const { state, request, login } = context
  const issue = findPull(context, context.params[0] ?? '')
  const first = issue?.pull.codeComments.find(({ id }) => id === Number(context.params[1]))
  if (minorVersion(state) < 27 || !issue || !first) return notFound()
  const { path, line, review } = first
  const comment = addCodeComment(state, issue, { path, line, review, user: login, body: text(request, 'body') })
  return { status: 201, body: showCodeComment(pageOf(context, issue), comment) }
}

/** From 1.26. */
function resolve(context: Context) {
  const { state, repository, login, params } = context
  const pulls = repository.issues.filter(hasPull)
  const owner = pulls.find(({ pull }) => pull.codeComments.some(({ id }) => id === Number(params[0])))
  const comment = owner?.pull.codeComments.find(({ id }) => id === Number(params[0]))
  if (minorVersion(state) < 26 || !owner || !comment) return notFound()
  if (owner.user !== login && !mayWrite(repository, login))
    return failure(403, 'user should have permission to resolve')
  comment.resolver = login
  return { status: 204 }
}

function requestReviewers(context: Context) {
  const { state, repository, request } = context
  const issue = findPull(context, context.params[0] ?? '')
  if (!issue) return notFound()
  const logins = field(request, 'reviewers')
  for (const login of Array.isArray(logins) ? logins.map(String) : []) {
    if (rightOf(repository, login) === 'none') return failure(404, `User '${login}' not exist`)
    if (login === issue.user) return failure(422, 'poster of pr can’t be reviewer')
    const review = pendingReview(state, issue, login)
    review.state = 'REQUEST_REVIEW'
  }
  return { status: 201, body: issue.pull.reviews.map((review) => showReview(review, issue.pull)) }
}
