import type { ForgeReview } from '../../../ports/forges.ts'
import { parseItems } from '../parse-answer.ts'
import { listUrl, type GiteaRepository } from './gitea-api.ts'
import { GiteaReview } from './shapes.ts'
import { readWriters, type Writers } from './writers.ts'

/** Returns the reviews that are submitted or asked for, oldest first; nobody's unfinished ones. */
export async function listReviews(repository: GiteaRepository, number: number): Promise<readonly GiteaReview[]> {
  const items = parseItems(GiteaReview, await repository.api.list(listUrl(repository, `/pulls/${number}/reviews`)))
  const byId = new Map(items.map((review) => [review.id, review]))
  return [...byId.values()].sort((a, b) => a.id - b.id)
}

export const isPending = ({ state }: GiteaReview) => state === 'PENDING'

/** Returns the last word of each reviewer; a mere comment doesn't take back what was decided. */
export async function readReviews(repository: GiteaRepository, number: number): Promise<readonly ForgeReview[]> {
  const reviews = await listReviews(repository, number)
  const latest = new Map<string, GiteaReview>()
  for (const review of reviews) {
    const author = authorOf(review)
    const former = latest.get(author)
    if (author === '' || stateOf(review) === null) continue
    if (review.state === 'COMMENT' && former !== undefined && former.state !== 'COMMENT') continue
    latest.set(author, review)
  }
  if (latest.size === 0) return []
  const writers = await readWriters(repository)
  return [...latest.values()].flatMap((review) => toReview(review, writers))
}

const authorOf = ({ user, team }: GiteaReview) => user?.login ?? team?.name ?? ''

function toReview(review: GiteaReview, writers: Writers): readonly ForgeReview[] {
  const state = stateOf(review)
  const author = authorOf(review)
  if (state === null) return []
  return [
    {
      author,
      is_member: writers === null || !review.user ? null : writers.has(author.toLowerCase()),
      state,
      body: review.body ?? '',
      submitted_at: state === 'requested' ? null : (review.submitted_at ?? null),
    },
  ]
}

function stateOf({ state, dismissed }: GiteaReview): ForgeReview['state'] | null {
  if (state === 'COMMENT') return 'commented'
  if (state === 'REQUEST_REVIEW') return 'requested'
  if (state !== 'APPROVED' && state !== 'REQUEST_CHANGES') return null
  if (dismissed) return 'dismissed'
  return state === 'APPROVED' ? 'approved' : 'changes_requested'
}
