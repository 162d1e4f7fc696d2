import { archived, failure, field, findIssue, notFound, page, text, type Context, type Route } from './context.ts'
import { showComment, showIssue, showUser, writers } from './show.ts'
import { mayWrite, nextId, nextTime, type Label } from './state.ts'

export const issueRoutes: readonly Route[] = [
  { method: 'GET', path: /^\/issues$/, scope: 'issue', answer: listIssues },
  { method: 'GET', path: /^\/issues\/(\d+)$/, scope: 'issue', answer: readIssue },
  { method: 'PATCH', path: /^\/issues\/(\d+)$/, scope: 'issue', answer: editIssue },
  { method: 'GET', path: /^\/issues\/(\d+)\/comments$/, scope: 'issue', answer: listComments },
  { method: 'POST', path: /^\/issues\/(\d+)\/comments$/, scope: 'issue', answer: addComment },
  { method: 'GET', path: /^\/issues\/(\d+)\/timeline$/, scope: 'issue', answer: listTimeline },
  { method: 'GET', path: /^\/issues\/(\d+)\/labels$/, scope: 'issue', answer: listIssueLabels },
  { method: 'POST', path: /^\/issues\/(\d+)\/labels$/, scope: 'issue', answer: addLabels },
  { method: 'DELETE', path: /^\/issues\/(\d+)\/labels\/(\d+)$/, scope: 'issue', answer: removeLabel },
  { method: 'GET', path: /^\/labels$/, scope: 'issue', answer: listLabels },
  { method: 'POST', path: /^\/labels$/, scope: 'issue', answer: createLabel },
  { method: 'GET', path: /^\/assignees$/, scope: 'repository', answer: listAssignees },
]

function listIssues(context: Context) {
  const { repository, url, request } = context
  const { state = 'open' } = request.query
  const wanted = repository.issues.filter((issue) => issue.pull === null && (state === 'all' || issue.state === state))
  return page(
    context,
    wanted.map((issue) => showIssue(url, repository, issue)),
  )
}

function readIssue(context: Context) {
  const issue = findIssue(context, context.params[0] ?? '')
  return issue ? { status: 200, body: showIssue(context.url, context.repository, issue) } : notFound()
}

function editIssue(context: Context) {
  const { state, repository, request, login } = context
  const issue = findIssue(context, context.params[0] ?? '')
  if (!issue) return notFound()
  if (issue.user !== login && !mayWrite(repository, login)) return { status: 403 }
  const wanted = text(request, 'state')
  if (wanted !== '') issue.state = wanted === 'closed' ? 'closed' : 'open'
  issue.updated_at = nextTime(state)
  return { status: 201, body: showIssue(context.url, repository, issue) }
}

/** All of them: this list has no pages. */
function listComments(context: Context) {
  const issue = findIssue(context, context.params[0] ?? '')
  if (!issue) return notFound()
  return {
    status: 200,
    body: issue.comments.map(showComment),
    headers: { 'x-total-count': String(issue.comments.length) },
  }
}

function addComment(context: Context) {
  const { state, request, login, repository } = context
  if (repository.archived) return archived(context)
  const issue = findIssue(context, context.params[0] ?? '')
  if (!issue) return notFound()
  const body = text(request, 'body')
  if (body === '') return failure(422, '[Body]: Required')
  const comment = { id: nextId(state), user: login, body, created_at: nextTime(state) }
  issue.comments.push(comment)
  issue.updated_at = comment.created_at
  return { status: 201, body: showComment(comment) }
}

/** Its total is that of the page, and it has no `Link`. */
function listTimeline(context: Context) {
  const issue = findIssue(context, context.params[0] ?? '')
  if (!issue) return notFound()
  const answer = page(context, issue.timeline, { hasLinks: false })
  const { body } = answer
  return { ...answer, headers: { 'x-total-count': String(Array.isArray(body) ? body.length : 0) } }
}

function listIssueLabels(context: Context) {
  const issue = findIssue(context, context.params[0] ?? '')
  if (!issue) return notFound()
  return { status: 200, body: context.repository.labels.filter(({ id }) => issue.labels.has(id)) }
}

function addLabels(context: Context) {
  const { repository, request, login } = context
  const issue = findIssue(context, context.params[0] ?? '')
  if (!issue) return notFound()
  if (!mayWrite(repository, login)) return { status: 403 }
  const ids = field(request, 'labels')
  for (const { id } of repository.labels) if (Array.isArray(ids) && ids.includes(id)) issue.labels.add(id)
  return { status: 200, body: repository.labels.filter(({ id }) => issue.labels.has(id)) }
}

function removeLabel(context: Context) {
  const issue = findIssue(context, context.params[0] ?? '')
  if (!issue) return notFound()
  if (!mayWrite(context.repository, context.login)) return { status: 403 }
  const id = Number(context.params[1])
  if (!context.repository.labels.some((label) => label.id === id)) return failure(422, 'label does not exist')
  issue.labels.delete(id)
  return { status: 204 }
}

function listLabels(context: Context) {
  return page(context, context.repository.labels)
}

function createLabel({ state, repository, request, login }: Context) {
  if (!mayWrite(repository, login)) return { status: 403 }
  const label: Label = { id: nextId(state), name: text(request, 'name'), color: text(request, 'color') }
  if (label.name === '' || label.color === '') return failure(422, '[Color]: Required')
  repository.labels.push(label)
  return { status: 201, body: label }
}

function listAssignees({ repository }: Context) {
  return { status: 200, body: writers(repository).map(showUser) }
}
