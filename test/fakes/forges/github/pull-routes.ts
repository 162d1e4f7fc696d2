import type { ForgeReply } from '../forge-server.ts'
import { failure, invalid, need, notFound, ok, page, text, texts, type Exchange, type Route } from './exchange.ts'
import { mergeNow } from './merging.ts'
import { renderComment, renderPull, renderReview } from './render.ts'
import { isAllowed, protectedBy, protectionOf } from './rules.ts'
import type { FakePull, FakeRepository, MergeMethod } from './state.ts'
import {
  end,
  findRepository,
  followBranches,
  maxBody,
  maxTitle,
  nextNumber,
  touch,
  userOf,
  type World,
} from './world.ts'

const read = [need('pull_requests', 'read')]
const write = [need('pull_requests', 'write')]

export const pullRoutes: readonly Route[] = [
  { method: 'GET', path: '/pulls', needs: read, answer: listPulls },
  { method: 'POST', path: '/pulls', needs: write, answer: createPull },
  { method: 'GET', path: '/pulls/:number', needs: read, answer: onPull(getPull) },
  { method: 'PATCH', path: '/pulls/:number', needs: write, answer: onPull(updatePull) },
  { method: 'PUT', path: '/pulls/:number/merge', needs: [need('contents', 'write')], answer: onPull(mergePull) },
  { method: 'GET', path: '/pulls/:number/reviews', needs: read, answer: onPull(listReviews) },
  { method: 'POST', path: '/pulls/:number/requested_reviewers', needs: write, answer: onPull(requestReviewers) },
  { method: 'POST', path: '/pulls/:number/comments/:comment/replies', needs: write, answer: onPull(reply) },
]

type PullAnswer = (exchange: Exchange, pull: FakePull) => Promise<ForgeReply> | ForgeReply

function onPull(answer: PullAnswer): Route['answer'] {
  return async (exchange) => {
    const pull = exchange.repository.pulls.get(Number(exchange.params['number']))
    if (!pull) return notFound()
    await followBranches(exchange.world, pull)
    return answer(exchange, pull)
  }
}

async function listPulls(exchange: Exchange): Promise<ForgeReply> {
  const { world, repository, request } = exchange
  const { head, base, state = 'open', direction = 'desc' } = request.query
  const pulls = [...repository.pulls.values()]
  for (const pull of pulls) await followBranches(world, pull)
  // A head without an owner is ignored.
  const [owner, branch] = head?.includes(':')
    ? [head.slice(0, head.indexOf(':')), head.slice(head.indexOf(':') + 1)]
    : []
  const found = pulls.filter(
    (pull) =>
      (state === 'all' || pull.state === state) &&
      (base === undefined || pull.base === base) &&
      (branch === undefined || (pull.head.branch === branch && pull.head.owner.toLowerCase() === owner?.toLowerCase())),
  )
  const sorted = found.toSorted((a, b) => (direction === 'asc' ? a.number - b.number : b.number - a.number))
  return page(
    exchange,
    sorted.map((pull) => renderPull(world, pull, false)),
  )
}

function tooLong({ title, body }: Readonly<Record<string, unknown>>): ForgeReply | null {
  const long = (field: string, value: unknown, max: number) =>
    [...text(value)].length > max
      ? [
          {
            resource: 'PullRequest',
            code: 'custom',
            field,
            message: `${field} is too long (maximum is ${max} characters)`,
          },
        ]
      : []
  const errors = [...long('title', title, maxTitle), ...long('body', body, maxBody)]
  return errors.length > 0 ? invalid(errors) : null
}

async function createPull({ world, repository, token, body }: Exchange): Promise<ForgeReply> {
  const refused = tooLong(body)
  if (refused) return refused
  const head = headOf(world, repository, text(body['head']), body['head_repo'])
  const base = text(body['base'])
  const commit = await world.git.head(head.repository, head.branch)
  const target = await world.git.head(repository.git_name, base)
  const wrong = (field: string) => invalid([{ resource: 'PullRequest', field, code: 'invalid' }])
  if (commit === null) return wrong('head')
  if (target === null) return wrong('base')
  const custom = (message: string) => invalid([{ resource: 'PullRequest', code: 'custom', message }])
  const isOpen = ({ state, base: to, head: from }: FakePull) =>
    state === 'open' && to === base && from.branch === head.branch && from.repository === head.repository
  if ([...repository.pulls.values()].some(isOpen)) {
    return custom(`A pull request already exists for ${head.owner}:${head.branch}.`)
  }
  if (commit === target) return custom(`No commits between ${base} and ${head.branch}`)
  if (body['draft'] === true && !repository.drafts) {
    return failure(422, 'Draft pull requests are not supported in this repository.')
  }
  if (text(body['title']) === '') return invalid([{ resource: 'PullRequest', field: 'title', code: 'missing_field' }])
  const number = nextNumber(repository)
  const time = world.time()
  const pull: FakePull = {
    number,
    node_id: `PR_${repository.id}_${number}`,
    repository,
    user: userOf(world, token.login),
    title: text(body['title']),
    body: text(body['body']) || null,
    state: 'open',
    head,
    commit,
    base,
    draft: body['draft'] === true,
    merged: false,
    merge_commit: null,
    computing: 0,
    conflict: false,
    labels: new Set(),
    requested: new Set(),
    requestedTeams: new Set(),
    comments: [],
    reviews: [],
    threads: [],
    auto_merge: null,
    queued: false,
    stack: null,
    created_at: time,
    updated_at: time,
  }
  repository.pulls.set(number, pull)
  return { status: 201, body: renderPull(world, pull, true) }
}

/** `head` names an owner where the branch is in a fork. */
function headOf(world: World, here: FakeRepository, head: string, headRepo: unknown) {
  const colon = head.indexOf(':')
  const [ownHere = '', nameHere = ''] = here.full_name.split('/')
  const owner = colon < 0 ? ownHere : head.slice(0, colon)
  const name = `${owner}/${typeof headRepo === 'string' ? headRepo : nameHere}`
  return {
    owner,
    branch: head.slice(colon + 1),
    repository: findRepository(world, name)?.found.git_name ?? name,
  }
}

function getPull({ world }: Exchange, pull: FakePull): ForgeReply {
  const answer = ok(renderPull(world, pull, true))
  // Asking is what makes GitHub work it out.
  if (pull.computing > 0) pull.computing--
  return answer
}

async function updatePull({ world, repository, body }: Exchange, pull: FakePull): Promise<ForgeReply> {
  const refused = tooLong(body)
  if (refused) return refused
  const { title, body: description, state, base } = body
  if (base !== undefined && base !== pull.base) {
    if (pull.state === 'closed') {
      return invalid([
        {
          resource: 'PullRequest',
          code: 'custom',
          field: 'base',
          message: 'Cannot change the base branch of a closed pull request.',
        },
      ])
    }
    const target = await world.git.head(repository.git_name, text(base))
    if (target === null) return invalid([{ resource: 'PullRequest', field: 'base', code: 'invalid' }])
    pull.base = text(base)
  }
  if (state === 'open' && pull.state === 'closed') {
    const now = pull.head.repository === null ? null : await world.git.head(pull.head.repository, pull.head.branch)
    if (pull.merged || now === null) {
      return invalid([
        {
          resource: 'PullRequest',
          code: 'custom',
          field: 'state',
          message: `state cannot be changed. The ${pull.head.branch} branch has been deleted.`,
        },
      ])
    }
  }
  if (typeof title === 'string') pull.title = title
  if (typeof description === 'string') pull.body = description
  if (state === 'open' || state === 'closed') pull.state = state
  if (state === 'closed') end(world, pull, {})
  else touch(world, pull)
  return ok(renderPull(world, pull, true))
}

async function mergePull({ world, token, body }: Exchange, pull: FakePull): Promise<ForgeReply> {
  const method = (text(body['merge_method']) || 'merge') as MergeMethod
  if (pull.state === 'closed' || pull.conflict || pull.computing > 0)
    return failure(405, 'Pull Request is not mergeable')
  if (pull.draft) return failure(405, 'Pull Request is still a draft')
  if (pull.stack !== null) return failure(405, 'Pull Request is part of a stack')
  if (typeof body['sha'] === 'string' && body['sha'] !== pull.commit) {
    return failure(409, 'Head branch was modified. Review and try the merge again.')
  }
  if (!isAllowed(pull, method)) {
    const name = { merge: 'Merge commits', squash: 'Squash merges', rebase: 'Rebase merges' }[method]
    return failure(405, `${name} are not allowed on this repository.`)
  }
  const protection = protectionOf(pull)
  const isFree = pull.repository.roles.get(token.login) === 'admin' && !protection.enforceAdmins
  if (!isFree && protection.queue) {
    return failure(405, 'Repository rule violations found\n\nChanges must be made through the merge queue\n\n')
  }
  const reason = protectedBy(pull)
  if (reason !== null && !isFree) return failure(405, reason)
  const merged = await mergeNow(world, pull, method)
  return ok({ sha: merged, merged: true, message: 'Pull Request successfully merged' })
}

function listReviews(exchange: Exchange, pull: FakePull): ForgeReply {
  const { world, token } = exchange
  const seen = pull.reviews.filter(({ state, user }) => state !== 'PENDING' || user.login === token.login)
  return page(
    exchange,
    seen.map((review) => renderReview(world, pull, review)),
  )
}

function requestReviewers({ world, repository, body }: Exchange, pull: FakePull): ForgeReply {
  const logins = texts(body['reviewers'])
  if (logins.includes(pull.user.login)) return failure(422, 'Review cannot be requested from pull request author.')
  if (logins.some((login) => !repository.roles.has(login))) {
    return failure(
      422,
      `Reviews may only be requested from collaborators. One or more of the users or teams you specified is not a collaborator of the ${repository.full_name} repository.`,
    )
  }
  for (const login of logins) pull.requested.add(login)
  touch(world, pull)
  return { status: 201, body: renderPull(world, pull, false) }
}

function reply({ world, repository, token, params, body }: Exchange, pull: FakePull): ForgeReply {
  const id = Number(params['comment'])
  const thread = pull.threads.find(({ comments }) => comments[0]?.id === id)
  if (!thread) return notFound()
  if (pull.reviews.some(({ state, user }) => state === 'PENDING' && user.login === token.login)) {
    return invalid([
      {
        resource: 'PullRequestReview',
        code: 'custom',
        field: 'user_id',
        message: 'user_id can only have one pending review per pull request',
      },
    ])
  }
  const comment = {
    id: world.nextId(),
    user: userOf(world, token.login),
    body: text(body['body']),
    state: 'SUBMITTED' as const,
    created_at: world.time(),
  }
  thread.comments.push(comment)
  touch(world, pull)
  const url = `${world.web}/${repository.full_name}/pull/${pull.number}#discussion_r${comment.id}`
  return { status: 201, body: renderComment(world, repository, comment, url) }
}
