import type { ForgeReview } from '../../../ports/forges.ts'
import { parseAnswer, parseItems } from '../parse-answer.ts'
import { unlessRefused } from '../unless-refused.ts'
import { label, type GitlabProject } from './gitlab-api.ts'
import { isMember } from './members.ts'
import { GitlabApprovals, GitlabReviewer } from './shapes.ts'

interface Review {
  readonly user: { readonly id: number; readonly username: string }
  readonly state: ForgeReview['state']
  readonly at: string | null
}

/** Returns the last word of each reviewer: an approval, or what their review says. */
export async function readReviews(project: GitlabProject, number: number): Promise<readonly ForgeReview[]> {
  const words = new Map<number, Review>()
  for (const review of await readReviewers(project, number)) words.set(review.user.id, review)
  for (const review of await readApprovals(project, number)) words.set(review.user.id, review)
  const reviews: ForgeReview[] = []
  for (const { user, state, at } of words.values()) {
    const is_member = await isMember(project, user.id)
    reviews.push({ author: user.username, is_member, state, body: '', submitted_at: at })
  }
  return reviews
}

async function readApprovals({ api, url }: GitlabProject, number: number): Promise<readonly Review[]> {
  const address = `${url}/merge_requests/${number}/approvals`
  const answer = await unlessRefused(['not_found', 'forbidden'], () => api.send({ url: address }))
  if (answer === null) return []
  const { approved_by } = parseAnswer(GitlabApprovals, answer.json, label)
  return (approved_by ?? []).map(({ user, approved_at }) => ({ user, state: 'approved', at: approved_at ?? null }))
}

async function readReviewers({ api, url }: GitlabProject, number: number): Promise<readonly Review[]> {
  const address = `${url}/merge_requests/${number}/reviewers`
  const items = await unlessRefused(['not_found', 'forbidden'], () => api.list(address))
  return parseItems(GitlabReviewer, items ?? []).map(({ user, state, created_at }) => {
    const said = states[state] ?? 'requested'
    return { user, state: said, at: said === 'requested' ? null : (created_at ?? null) }
  })
}

/** `approved` is what the approvals say; one that was taken back waits for another. */
const states: Readonly<Record<string, ForgeReview['state']>> = {
  requested_changes: 'changes_requested',
  reviewed: 'commented',
}
