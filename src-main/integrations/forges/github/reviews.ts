import { z } from 'zod'
import type { ForgeReview } from '../../../ports/forges.ts'
import { isMember } from './comments.ts'
import type { Github } from './github.ts'
import { Text, User } from './pull-fields.ts'
import { pullPath, readFields } from './pulls.ts'

const ReviewFields = z.looseObject({
  user: User,
  author_association: z.string().nullish().catch(null),
  state: z.string(),
  body: Text,
  submitted_at: z.string().nullish().catch(null),
})
type ReviewFields = z.infer<typeof ReviewFields>

const states: Readonly<Record<string, ForgeReview['state']>> = {
  APPROVED: 'approved',
  CHANGES_REQUESTED: 'changes_requested',
  COMMENTED: 'commented',
  DISMISSED: 'dismissed',
}

/** Returns the last word of each reviewer, and whose word is waited for. */
export async function listReviews(github: Github, number: number): Promise<readonly ForgeReview[]> {
  const given = await github.list(`${pullPath(number)}/reviews`, ReviewFields)
  const { requested_reviewers, requested_teams } = await readFields(github, number)
  const words = new Map<string, ForgeReview>()
  // Oldest first. A PENDING one isn't sent yet, and only its author sees it.
  for (const fields of given) {
    const review = toReview(fields)
    const former = words.get(review?.author ?? '')
    if (review && (!former || review.state !== 'commented' || former.state === 'commented')) {
      words.set(review.author, review)
    }
  }
  const teams = requested_teams.map(({ slug }) => `${github.source.owner}/${slug}`)
  const asked = [...requested_reviewers.map(({ login }) => login), ...teams]
  return [...[...words.values()].filter(({ author }) => !asked.includes(author)), ...asked.map(requestTo)]
}

function toReview(fields: ReviewFields): ForgeReview | null {
  const state = states[fields.state]
  if (state === undefined) return null
  const { user, author_association, body, submitted_at } = fields
  return { author: user, is_member: isMember(author_association), state, body, submitted_at: submitted_at ?? null }
}

const requestTo = (author: string): ForgeReview => ({
  author,
  is_member: null,
  state: 'requested',
  body: '',
  submitted_at: null,
})
