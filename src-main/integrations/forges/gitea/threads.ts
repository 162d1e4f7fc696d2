import type { ForgeThread } from '../../../ports/forges.ts'
import { parseItems } from '../parse-answer.ts'
import { toComment } from './comments.ts'
import type { GiteaRepository } from './gitea-api.ts'
import { isPending, listReviews } from './reviews.ts'
import { GiteaReviewComment, type GiteaReview } from './shapes.ts'
import { readWriters } from './writers.ts'

/** Comments on one line, oldest first. */
type GiteaThread = readonly [GiteaReviewComment, ...GiteaReviewComment[]]

interface ReviewComments {
  readonly reviews: readonly GiteaReview[]
  readonly threads: readonly GiteaThread[]
}

/** Reads the comments on lines, which the forge lists by review only. */
export async function readReviewComments(repository: GiteaRepository, number: number): Promise<ReviewComments> {
  const reviews = await listReviews(repository, number)
  const comments: GiteaReviewComment[] = []
  for (const review of reviews) {
    if (isPending(review) || review.comments_count === 0) continue
    comments.push(...(await commentsOf(repository, number, review.id)))
  }
  return { reviews, threads: toThreads(comments) }
}

export async function commentsOf(
  { api, url }: GiteaRepository,
  number: number,
  review: number,
): Promise<readonly GiteaReviewComment[]> {
  return parseItems(GiteaReviewComment, await api.list(`${url}/pulls/${number}/reviews/${review}/comments`))
}

/**
 * Puts comments on the same line together, as the forge's page does. What another review says of a line of another
 * commit after the thread was resolved is a new thread: there it would go unseen.
 */
function toThreads(comments: readonly GiteaReviewComment[]): readonly GiteaThread[] {
  const threads = new Map<string, [GiteaReviewComment, ...GiteaReviewComment[]][]>()
  for (const comment of [...comments].sort((a, b) => a.id - b.id)) {
    const key = `${comment.position} ${comment.original_position} ${comment.path}`
    const here = threads.get(key) ?? []
    threads.set(key, here)
    const thread = here.find((each) => belongsTo(comment, each[0]))
    if (thread) thread.push(comment)
    else here.push([comment])
  }
  return [...threads.values()].flat().sort((a, b) => a[0].id - b[0].id)
}

function belongsTo(comment: GiteaReviewComment, first: GiteaReviewComment): boolean {
  if (comment.pull_request_review_id === first.pull_request_review_id) return true
  return !first.resolver || comment.commit_id === first.commit_id
}

export async function readThreads(repository: GiteaRepository, number: number): Promise<readonly ForgeThread[]> {
  const { reviews, threads } = await readReviewComments(repository, number)
  if (threads.length === 0) return []
  const writers = await readWriters(repository)
  const stale = new Set(reviews.filter((review) => review.stale).map(({ id }) => id))
  return threads.map((thread) => {
    const [first] = thread
    return {
      id: String(first.id),
      path: first.path,
      line: first.position || first.original_position || null,
      side: first.position > 0 || first.original_position === 0 ? 'new' : 'old',
      resolved: Boolean(first.resolver),
      outdated: stale.has(first.pull_request_review_id),
      url: first.html_url,
      comments: thread.map((comment) => toComment(comment, writers)),
    }
  })
}
