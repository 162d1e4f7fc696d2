import { ForgeError, type MergeMethod } from '../../../ports/forges.ts'
import type { ForgeAnswer } from '../forge-requests.ts'
import { parseAnswer } from '../parse-answer.ts'
import { label, type GiteaRepository } from './gitea-api.ts'
import { fetchPull } from './pulls.ts'
import { scheduledMark } from './scheduled-merge.ts'
import { GiteaRepositoryRecord, type GiteaPull } from './shapes.ts'
import { readTitle } from './drafts.ts'

interface Merge {
  readonly method: MergeMethod
  readonly head: string
}

/** Merges a head. Answers the commit on the target. */
export async function mergePull(repository: GiteaRepository, number: number, merge: Merge): Promise<string | null> {
  const answer = await sendMerge(repository, number, merge, false)
  const pull = await fetchPull(repository, number)
  if (pull.merged) return pull.merge_commit_sha ?? null
  if (answer.status === 200) return null
  throw refusal(pull, merge, answer)
}

/**
 * Leaves the merge to the forge, which then merges whatever the head is by that time: so another head than the judged
 * one is refused, also if it came while the merge was being scheduled.
 */
export async function scheduleMerge(repository: GiteaRepository, number: number, merge: Merge): Promise<'auto_merge'> {
  const { api, url, marks } = repository
  const before = await fetchPull(repository, number)
  if (before.head.sha !== merge.head) throw moved()
  if (readTitle(before).isDraft) throw new ForgeError('not_mergeable', 'It is a draft. Mark it as ready first.')
  const answer = await sendMerge(repository, number, merge, true)
  const isScheduled = answer.status === 201 || (answer.status === 409 && /already scheduled/i.test(messageOf(answer)))
  const pull = await fetchPull(repository, number)
  if (pull.merged) return 'auto_merge'
  if (!isScheduled) throw refusal(pull, merge, answer)
  if (pull.head.sha !== merge.head) {
    await api.send({ method: 'DELETE', url: `${url}/pulls/${number}/merge`, accept: [404] })
    throw moved()
  }
  marks.set(scheduledMark(repository, number), merge.head)
  return 'auto_merge'
}

/** 404: closed. 405: no right, a draft, red checks, still computing, or merged. 409: another head, or conflicts. */
const refusals = [404, 405, 409, 422]

async function sendMerge(
  { api, url }: GiteaRepository,
  number: number,
  { method, head }: Merge,
  whenReady: boolean,
): Promise<ForgeAnswer> {
  const style =
    method === 'rebase'
      ? rebaseStyle(parseAnswer(GiteaRepositoryRecord, (await api.send({ url })).json, label))
      : method
  return api.send({
    method: 'POST',
    url: `${url}/pulls/${number}/merge`,
    body: {
      Do: style,
      head_commit_id: head,
      delete_branch_after_merge: false,
      ...(whenReady && { merge_when_checks_succeed: true }),
    },
    accept: refusals,
  })
}

function rebaseStyle(record: GiteaRepositoryRecord): string {
  if (record.allow_rebase) return 'rebase'
  if (record.allow_rebase_explicit) return 'rebase-merge'
  return record.allow_fast_forward_only_merge ? 'fast-forward-only' : 'rebase'
}

const moved = () => new ForgeError('not_mergeable', 'Its branch has new commits. Look at them before it is merged.')

function refusal(pull: GiteaPull, merge: Merge, answer: ForgeAnswer): ForgeError {
  if (pull.state === 'closed') return new ForgeError('not_mergeable', 'It is closed. Reopen it first.')
  if (pull.head.sha !== merge.head) return moved()
  const said = messageOf(answer)
  if (/try again later/i.test(said)) {
    return new ForgeError('not_mergeable', 'The forge tests for conflicts, or found some. Look again in a moment.')
  }
  if (/not allowed to merge/i.test(said)) {
    return new ForgeError('not_mergeable', "The token's account can't merge into this branch.")
  }
  return new ForgeError('not_mergeable', said === '' ? 'The forge refuses to merge it.' : `The forge says: ${said}`)
}

function messageOf({ json }: ForgeAnswer): string {
  const message: unknown = typeof json === 'object' && json !== null && 'message' in json ? json.message : ''
  return typeof message === 'string' ? message.slice(0, 500) : ''
}
