import { ForgeError, type ForgeComment } from '../../../ports/forges.ts'
import { parseAnswer } from '../parse-answer.ts'
import { toComment } from './comments.ts'
import { label, type GiteaRepository } from './gitea-api.ts'
import { isPending } from './reviews.ts'
import { GiteaReview, GiteaReviewComment } from './shapes.ts'
import { commentsOf, readReviewComments } from './threads.ts'
import { readFeatures } from './version.ts'
import { readWriters } from './writers.ts'

interface Answer {
  readonly number: number
  /** The ID of the thread's first comment. */
  readonly thread: string
  readonly body: string
}

export async function answerThread(repository: GiteaRepository, answer: Answer): Promise<ForgeComment> {
  const { reply } = await readFeatures(repository)
  const written = await (reply === 'replies'
    ? sendReply(repository, answer)
    : reply === 'review'
      ? addToReview(repository, answer)
      : commentOnLine(repository, answer))
  return toComment(written, await readWriters(repository))
}

async function sendReply({ api, url }: GiteaRepository, { number, thread, body }: Answer) {
  const target = `${url}/pulls/${number}/comments/${encodeURIComponent(thread)}/replies`
  const { json } = await api.send({ method: 'POST', url: target, body: { body } })
  return parseAnswer(GiteaReviewComment, json, label)
}

/** Forgejo: a comment that joins the thread's review is an answer. */
async function addToReview(repository: GiteaRepository, answer: Answer) {
  const { first } = await findThread(repository, answer)
  const { json } = await repository.api.send({
    method: 'POST',
    url: `${repository.url}/pulls/${answer.number}/reviews/${first.pull_request_review_id}/comments`,
    body: onLineOf(first, answer.body),
  })
  return parseAnswer(GiteaReviewComment, json, label)
}

/** Versions without replies: the page shows comments on one line together. */
async function commentOnLine(repository: GiteaRepository, answer: Answer) {
  const { first, reviews } = await findThread(repository, answer)
  // The forge would submit it along with the answer.
  if (reviews.some(isPending)) {
    throw new ForgeError('refused', "The token's account has a review that is not submitted there. Submit it first.")
  }
  const { json } = await repository.api.send({
    method: 'POST',
    url: `${repository.url}/pulls/${answer.number}/reviews`,
    body: { event: 'COMMENT', body: '', comments: [onLineOf(first, answer.body)] },
  })
  const review = parseAnswer(GiteaReview, json, label)
  const written = (await commentsOf(repository, answer.number, review.id)).at(-1)
  if (!written) throw new ForgeError('refused', 'The forge took the answer, but shows none.')
  return written
}

const onLineOf = (first: GiteaReviewComment, body: string) => ({
  path: first.path,
  body,
  new_position: first.position,
  old_position: first.position > 0 ? 0 : first.original_position,
})

async function findThread(repository: GiteaRepository, { number, thread }: Answer) {
  const { reviews, threads } = await readReviewComments(repository, number)
  const first = threads.map((comments) => comments[0]).find(({ id }) => String(id) === thread)
  if (!first) throw new ForgeError('not_found', 'The forge no longer has the thread.')
  return { first, reviews }
}

export async function resolveThread(repository: GiteaRepository, thread: string): Promise<void> {
  if (!(await readFeatures(repository)).resolve) {
    throw new ForgeError('not_supported', 'This version of the forge resolves threads on its page only.')
  }
  const url = `${repository.url}/pulls/comments/${encodeURIComponent(thread)}/resolve`
  await repository.api.send({ method: 'POST', url })
}
