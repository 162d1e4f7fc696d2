import { z } from 'zod'
import { ForgeError, type ForgeComment, type ForgeThread } from '../../../ports/forges.ts'
import { shortenText } from '../shorten.ts'
import { CommentFields, isMember, toComment } from './comments.ts'
import { label } from './dialect.ts'
import { part, type Github } from './github.ts'
import { mutate, query } from './graphql.ts'
import { Text } from './pull-fields.ts'
import { maxText, pullPath } from './pulls.ts'

/** REST calls a bot's account by its whole name. */
const Author = z
  .looseObject({ login: z.string(), __typename: z.string().catch('') })
  .nullish()
  .catch(null)
  .transform((author) => {
    if (!author) return 'ghost'
    return author.__typename === 'Bot' && !author.login.endsWith('[bot]') ? `${author.login}[bot]` : author.login
  })

const ThreadComment = z.looseObject({
  id: z.string(),
  url: z.string().catch(''),
  state: z.string().nullish().catch(null),
  body: Text,
  createdAt: z.string(),
  author: Author,
  authorAssociation: z.string().nullish().catch(null),
})

const Page = z
  .looseObject({ hasNextPage: z.boolean(), endCursor: z.string().nullish() })
  .catch({ hasNextPage: false, endCursor: null })

/** A refused or unreadable one is null, or of another shape; the others are read. */
const listOf = <T>(item: z.ZodType<T>) =>
  z
    .array(item.nullish().catch(null))
    .nullish()
    .transform((items) => (items ?? []).filter((one) => one != null))

const Comments = z.looseObject({ nodes: listOf(ThreadComment), pageInfo: Page })

const Thread = z.looseObject({
  id: z.string(),
  path: z.string().nullish().catch(null),
  line: z.int().nullish().catch(null),
  diffSide: z.string().catch('RIGHT'),
  isResolved: z.boolean(),
  isOutdated: z.boolean().catch(false),
  comments: Comments,
})
type Thread = z.infer<typeof Thread>

const Threads = z
  .looseObject({
    repository: z
      .looseObject({
        pullRequest: z
          .looseObject({ reviewThreads: z.looseObject({ nodes: listOf(Thread), pageInfo: Page }).nullish() })
          .nullish(),
      })
      .nullish(),
  })
  .transform(({ repository }) => repository?.pullRequest?.reviewThreads ?? null)

const commentFields = `
  pageInfo { hasNextPage endCursor }
  nodes { id url state body createdAt authorAssociation author { __typename login } }`

const threadsQuery = `query($owner: String!, $repo: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $repo) {
    pullRequest(number: $number) {
      reviewThreads(first: 50, after: $after) {
        pageInfo { hasNextPage endCursor }
        nodes {
          id path line diffSide isResolved isOutdated
          comments(first: 50) {${commentFields}}
        }
      }
    }
  }
}`

/** The most pages of threads: a thousand of them. */
const maxPages = 20

export async function listThreads(github: Github, number: number): Promise<readonly ForgeThread[]> {
  const { owner, repo } = github.source
  const found: Thread[] = []
  let after: string | null = null
  for (let page = 0; page < maxPages; page++) {
    const variables = { owner, repo, number, after }
    const threads: z.infer<typeof Threads> & {} = await query(github, [threadsQuery], variables, Threads)
    found.push(...threads.nodes)
    after = threads.pageInfo.endCursor ?? null
    if (!threads.pageInfo.hasNextPage || after === null) break
  }
  const read: ForgeThread[] = []
  for (const thread of found) read.push(...toThread(thread, await allComments(github, thread)))
  return read
}

const More = z
  .looseObject({ node: z.looseObject({ comments: Comments }).nullish().catch(null) })
  .transform(({ node }) => node?.comments ?? null)

const moreQuery = `query($thread: ID!, $after: String) {
  node(id: $thread) { ... on PullRequestReviewThread { comments(first: 100, after: $after) {${commentFields}} } }
}`

type Comment = z.infer<typeof ThreadComment>

async function allComments(github: Github, { id, comments }: Thread): Promise<readonly Comment[]> {
  const all = [...comments.nodes]
  let { hasNextPage, endCursor } = comments.pageInfo
  for (let page = 0; hasNextPage && endCursor != null && page < maxPages; page++) {
    const more = await query(github, [moreQuery], { thread: id, after: endCursor }, More)
    all.push(...more.nodes)
    ;({ hasNextPage, endCursor } = more.pageInfo)
  }
  return all
}

function toThread(
  { id, path, line, diffSide, isResolved, isOutdated }: Thread,
  all: readonly Comment[],
): ForgeThread[] {
  // A review that its author hasn't sent yet is shown to that account alone, which may be the token's.
  const comments = all.filter(({ state }) => state !== 'PENDING')
  const [first] = comments
  if (!first) return []
  return [
    {
      id,
      path: path ?? null,
      line: line ?? null,
      side: diffSide === 'LEFT' ? 'old' : 'new',
      resolved: isResolved,
      outdated: isOutdated,
      url: first.url,
      comments: comments.map(toThreadComment),
    },
  ]
}

function toThreadComment({ id, url, author, authorAssociation, body, createdAt }: Comment): ForgeComment {
  const is_member = isMember(authorAssociation)
  return { id: commentNumber(url) ?? id, author, is_member, body, created_at: createdAt }
}

/** Returns a comment's number in REST from its address: GraphQL's own field for it is too small or too new. */
const commentNumber = (url: string) => /#discussion_r(\d+)$/.exec(url)?.[1] ?? null

const First = z
  .looseObject({
    node: z.looseObject({ comments: z.looseObject({ nodes: listOf(z.looseObject({ url: z.string() })) }) }).nullish(),
  })
  .transform(({ node }) => node?.comments.nodes[0] ?? null)

const firstQuery = `query($thread: ID!) {
  node(id: $thread) { ... on PullRequestReviewThread { comments(first: 1) { nodes { url } } } }
}`

/** By REST: GraphQL would add the answer to a review that the account has begun, where nobody else sees it. */
export async function replyTo(github: Github, number: number, thread: string, body: string): Promise<ForgeComment> {
  const { url } = await query(github, [firstQuery], { thread }, First)
  const comment = commentNumber(url)
  if (comment === null) throw new ForgeError('not_found', `${label} doesn't tell which comment the thread begins with.`)
  const path = `${pullPath(number)}/comments/${part(comment)}/replies`
  return toComment(await github.send('POST', path, { body: shortenText(body, maxText) }, CommentFields))
}

export async function resolveThread(github: Github, thread: string): Promise<void> {
  const text = 'mutation($thread: ID!) { resolveReviewThread(input: { threadId: $thread }) { thread { isResolved } } }'
  await mutate(github, [text], { thread })
}
