import type { ForgeReply } from '../forge-server.ts'
import { execute, type GraphQLFormattedError } from 'graphql'
import { refusal } from './access.ts'
import { need, type Need } from './exchange.ts'
import { checkQuery, schemaOf } from './graphql-schema.ts'
import { noAutoMerge, notQueueable } from './merging.ts'
import { associationOf } from './render.ts'
import { protectionOf } from './rules.ts'
import type { FakePull, FakeRepository, FakeThread, FakeToken, MergeMethod, ThreadComment } from './state.ts'
import { allThreads, findRepository, followBranches, touch, type World } from './world.ts'

/** An error of one field, beside what the others answer. */
class FieldError extends Error {
  readonly type: string
  readonly extensions: Readonly<Record<string, unknown>>

  constructor(type: string, message: string, extensions: Readonly<Record<string, unknown>> = { saml_failure: false }) {
    super(message)
    this.type = type
    this.extensions = extensions
  }
}

export interface GraphqlRequest {
  readonly query: string
  readonly variables: Readonly<Record<string, unknown>>
}

/** Answers a query with status 200, whatever it is: errors stand beside the data. */
export async function answerGraphql(
  world: World,
  token: FakeToken,
  { query, variables }: GraphqlRequest,
): Promise<ForgeReply & { readonly deprecated: readonly string[]; readonly invalid: readonly string[] }> {
  const schema = schemaOf(world.isEnterprise)
  const { document, errors, deprecated } = checkQuery(schema, query)
  // Whatever the edition: a query has to be right by what is published.
  const invalid = checkQuery(schemaOf(false), query).errors.map((error) => JSON.stringify(error))
  if (document === null || errors.length > 0) return { status: 200, body: { errors }, deprecated, invalid }
  const rootValue = createRoot(world, token)
  const result = await execute({ schema, document, rootValue, variableValues: variables })
  const body = {
    ...(result.data !== undefined && { data: result.data }),
    ...(result.errors && { errors: result.errors.map((error) => inGithubsShape(error.toJSON(), error.originalError)) }),
  }
  return { status: 200, body, deprecated, invalid }
}

function inGithubsShape({ message, path, locations }: GraphQLFormattedError, cause: Error | undefined) {
  if (cause instanceof FieldError)
    return { type: cause.type, path, extensions: cause.extensions, locations, message: cause.message }
  return { message, path, locations }
}

interface Input {
  readonly input: Readonly<Record<string, string>>
}

function createRoot(world: World, token: FakeToken) {
  const allow = (repository: FakeRepository, needs: readonly Need[], isWrite = false) => {
    const refused = refusal(token, repository, { method: isWrite ? 'POST' : 'GET', needs })
    if (refused === null) return
    const { message } = refused.body as { readonly message: string }
    throw new FieldError('FORBIDDEN', message, { saml_failure: token.sso !== null })
  }
  const pullById = async (id: string | undefined) => {
    const pull = world.repositories.flatMap(({ pulls }) => [...pulls.values()]).find(({ node_id }) => node_id === id)
    if (!pull) throw new FieldError('NOT_FOUND', `Could not resolve to a node with the global id of '${id}'`)
    await followBranches(world, pull)
    return pull
  }
  const pullWrite = [need('pull_requests', 'write')]
  const contentsWrite = [need('contents', 'write')]
  return {
    repository: ({ owner, name }: { readonly owner: string; readonly name: string }) => {
      const found = findRepository(world, `${owner}/${name}`)
      if (!found)
        throw new FieldError('NOT_FOUND', `Could not resolve to a Repository with the name '${owner}/${name}'.`)
      return showRepository(world, token, found.found, allow)
    },
    node: ({ id }: { readonly id: string }) => {
      const thread = allThreads(world).find(({ node_id }) => node_id === id)
      if (!thread) throw new FieldError('NOT_FOUND', `Could not resolve to a node with the global id of '${id}'`)
      allow(thread.pull.repository, [need('pull_requests', 'read')])
      return showThread(world, token, thread)
    },
    resolveReviewThread: ({ input }: Input) => {
      const thread = allThreads(world).find(({ node_id }) => node_id === input['threadId'])
      if (!thread)
        throw new FieldError('NOT_FOUND', `Could not resolve to a node with the global id of '${input['threadId']}'`)
      allow(thread.pull.repository, contentsWrite, true)
      thread.resolved = true
      return { thread: showThread(world, token, thread) }
    },
    convertPullRequestToDraft: async ({ input }: Input) => {
      const pull = await pullById(input['pullRequestId'])
      allow(pull.repository, pullWrite, true)
      if (!pull.repository.drafts) throw new FieldError('UNPROCESSABLE', 'Draft pull requests are not supported')
      pull.draft = true
      touch(world, pull)
      return { pullRequest: showPull(world, token, pull) }
    },
    markPullRequestReadyForReview: async ({ input }: Input) => {
      const pull = await pullById(input['pullRequestId'])
      allow(pull.repository, pullWrite, true)
      pull.draft = false
      touch(world, pull)
      return { pullRequest: showPull(world, token, pull) }
    },
    enablePullRequestAutoMerge: async ({ input }: Input) => {
      const pull = await pullById(input['pullRequestId'])
      allow(pull.repository, contentsWrite, true)
      refuse(noAutoMerge(pull))
      refuseOtherHead(pull, input['expectedHeadOid'])
      const method = (input['mergeMethod'] ?? 'MERGE').toLowerCase() as MergeMethod
      pull.auto_merge = { method, by: token.login }
      touch(world, pull)
      return { pullRequest: showPull(world, token, pull) }
    },
    enqueuePullRequest: async ({ input }: Input) => {
      const pull = await pullById(input['pullRequestId'])
      allow(pull.repository, contentsWrite, true)
      refuseOtherHead(pull, input['expectedHeadOid'])
      refuse(notQueueable(pull))
      pull.queued = true
      touch(world, pull)
      return { mergeQueueEntry: { id: `MQE_${pull.number}` } }
    },
  }
}

function refuse(reason: string | null): void {
  if (reason !== null) throw new FieldError('UNPROCESSABLE', reason, {})
}

function refuseOtherHead(pull: FakePull, expected: string | undefined): void {
  if (expected !== undefined && expected !== pull.commit) refuse('Head sha didn’t match expected head sha')
}

type Allow = (repository: FakeRepository, needs: readonly Need[]) => void

function showRepository(world: World, token: FakeToken, repository: FakeRepository, allow: Allow) {
  return {
    id: `R_${repository.id}`,
    mergeQueue: ({ branch }: { readonly branch?: string }) =>
      repository.protection.get(branch ?? repository.default_branch)?.queue === true ? { id: `MQ_${branch}` } : null,
    pullRequest: async ({ number }: { readonly number: number }) => {
      allow(repository, [need('pull_requests', 'read')])
      const pull = repository.pulls.get(number)
      if (!pull) throw new FieldError('NOT_FOUND', `Could not resolve to a PullRequest with the number of ${number}.`)
      await followBranches(world, pull)
      return showPull(world, token, pull)
    },
  }
}

function showPull(world: World, token: FakeToken, pull: FakePull) {
  return {
    id: pull.node_id,
    number: pull.number,
    isDraft: pull.draft,
    isInMergeQueue: pull.queued && protectionOf(pull).queue,
    reviewThreads: (page: Page) =>
      connection(
        pull.threads.map((thread) => showThread(world, token, thread)),
        page,
      ),
  }
}

function showThread(world: World, token: FakeToken, thread: FakeThread) {
  const { node_id, path, line, side, resolved, outdated, comments } = thread
  const seen = comments.filter(({ state, user }) => state !== 'PENDING' || user?.login === token.login)
  return {
    __typename: 'PullRequestReviewThread',
    id: node_id,
    path,
    line,
    diffSide: side,
    isResolved: resolved,
    isOutdated: outdated,
    comments: (page: Page) =>
      connection(
        seen.map((comment) => showComment(world, thread.pull, comment)),
        page,
      ),
  }
}

function showComment({ web }: World, { repository, number }: FakePull, comment: ThreadComment) {
  const { id, user, body, state, created_at } = comment
  return {
    id: `PRRC_${id}`,
    databaseId: id,
    url: `${web}/${repository.full_name}/pull/${number}#discussion_r${id}`,
    state,
    body,
    createdAt: created_at,
    authorAssociation: associationOf(repository, user),
    // GraphQL calls bots without the end of their name.
    author: user === null ? null : { __typename: user.type, login: user.login.replace(/\[bot\]$/, '') },
  }
}

interface Page {
  readonly first?: number | null
  readonly after?: string | null
}

/** Cursors are numbers here; elsewhere nobody may know what they are. */
function connection<T>(items: readonly T[], { first, after }: Page) {
  if (first == null || first > 100)
    throw new FieldError('EXCESSIVE_PAGINATION', 'You must provide a `first` of 1 to 100.')
  const begin = after == null ? 0 : Number(atob(after)) + 1
  const nodes = items.slice(begin, begin + first)
  const last = begin + nodes.length - 1
  return {
    nodes,
    totalCount: items.length,
    pageInfo: { hasNextPage: last < items.length - 1, endCursor: nodes.length === 0 ? null : btoa(String(last)) },
  }
}
