import type { ForgeReply } from '../forge-server.ts'
import { failure, invalid, need, notFound, ok, page, text, texts, type Exchange, type Route } from './exchange.ts'
import { renderComment, renderIssue } from './render.ts'
import type { FakeIssue } from './state.ts'
import { issueOf, maxBody, touch, userOf } from './world.ts'

/** Issues and pull requests are commented and labelled alike; either permission is enough for the latter. */
const read = [need('issues', 'read'), need('pull_requests', 'read')]
const write = [need('issues', 'write'), need('pull_requests', 'write')]

export const issueRoutes: readonly Route[] = [
  { method: 'GET', path: '/issues', needs: read, answer: listIssues },
  {
    method: 'GET',
    path: '/issues/:number',
    needs: read,
    answer: onIssue(({ world }, issue) => ok(renderIssue(world, issue))),
  },
  { method: 'PATCH', path: '/issues/:number', needs: write, answer: onIssue(updateIssue) },
  { method: 'GET', path: '/issues/:number/comments', needs: read, answer: onIssue(listComments) },
  { method: 'POST', path: '/issues/:number/comments', needs: write, answer: onIssue(addComment) },
  { method: 'POST', path: '/issues/:number/labels', needs: write, answer: onIssue(addLabels) },
  { method: 'DELETE', path: '/issues/:number/labels/:name', needs: write, answer: onIssue(removeLabel) },
]

type IssueAnswer = (exchange: Exchange, issue: FakeIssue) => ForgeReply

function onIssue(answer: IssueAnswer): Route['answer'] {
  return (exchange) => {
    const number = Number(exchange.params['number'])
    if (exchange.repository.deleted.has(number)) return failure(410, 'This issue was deleted')
    const issue = issueOf(exchange.repository, number)
    return issue ? answer(exchange, issue) : notFound()
  }
}

function listIssues(exchange: Exchange): ForgeReply {
  const { world, repository } = exchange
  const all = [...repository.issues.values(), ...repository.pulls.values()].filter(({ state }) => state === 'open')
  return page(
    exchange,
    all.map((issue) => renderIssue(world, issue)),
  )
}

function updateIssue({ world, body }: Exchange, issue: FakeIssue): ForgeReply {
  const { state } = body
  if (state === 'open' || state === 'closed') issue.state = state
  touch(world, issue)
  return ok(renderIssue(world, issue))
}

const commentUrl = ({ world, repository }: Exchange, number: number, id: number) =>
  `${world.web}/${repository.full_name}/issues/${number}#issuecomment-${id}`

function listComments(exchange: Exchange, { number, comments }: FakeIssue): ForgeReply {
  const { world, repository } = exchange
  const rendered = comments.map((comment) =>
    renderComment(world, repository, comment, commentUrl(exchange, number, comment.id)),
  )
  return page(exchange, rendered)
}

function addComment(exchange: Exchange, issue: FakeIssue): ForgeReply {
  const { world, repository, token, body } = exchange
  const said = text(body['body'])
  if ([...said].length > maxBody || said === '') {
    const message = said === '' ? "body can't be blank" : `body is too long (maximum is ${maxBody} characters)`
    return invalid([{ resource: 'IssueComment', code: 'unprocessable', field: 'data', message }])
  }
  const comment = { id: world.nextId(), user: userOf(world, token.login), body: said, created_at: world.time() }
  issue.comments.push(comment)
  touch(world, issue)
  return {
    status: 201,
    body: renderComment(world, repository, comment, commentUrl(exchange, issue.number, comment.id)),
  }
}

function addLabels({ world, repository, body }: Exchange, issue: FakeIssue): ForgeReply {
  for (const name of texts(body['labels'])) {
    repository.labels.add(name)
    issue.labels.add(name)
  }
  touch(world, issue)
  return ok([...issue.labels].map((name) => ({ name })))
}

function removeLabel({ world, params }: Exchange, issue: FakeIssue): ForgeReply {
  if (!issue.labels.delete(params['name'] ?? '')) return failure(404, 'Label does not exist')
  touch(world, issue)
  return ok([...issue.labels].map((name) => ({ name })))
}
