import { ForgeError, type MergeMethod } from '../../../ports/forges.ts'
import type { ForgeAnswer } from '../forge-requests.ts'
import { isDraft } from './drafts.ts'
import type { GitlabProject } from './gitlab-api.ts'
import { readSettings, writeUrl } from './project.ts'
import { fetchPull, sendChange } from './pulls.ts'
import type { GitlabPull } from './shapes.ts'
import { isOpen, mergeCommitOf } from './to-pull.ts'

interface Merge {
  readonly method: MergeMethod
  readonly head: string
}

/** Merges a head. Answers the commit on the target. */
export async function mergePull(project: GitlabProject, number: number, merge: Merge): Promise<string | null> {
  const before = await fetchPull(project, number)
  if (before.state === 'merged') return mergeCommitOf(before)
  await choose(project, before, merge)
  const answer = await sendMerge(project, number, merge, false)
  const pull = await fetchPull(project, number)
  if (pull.state === 'merged') return mergeCommitOf(pull)
  // It is still at it.
  if (answer.status === 200 && pull.state === 'locked') return null
  throw refusal(pull, merge, answer)
}

/** Leaves the merge to the merge train where the project has them, else to auto-merge. */
export async function mergeWhenReady(
  project: GitlabProject,
  number: number,
  merge: Merge,
): Promise<'queued' | 'auto_merge'> {
  const before = await fetchPull(project, number)
  if (before.sha !== merge.head) throw moved()
  if (isDraft(before)) throw new ForgeError('not_mergeable', 'It is a draft. Mark it as ready first.')
  await choose(project, before, merge)
  const { merge_trains_enabled } = await readSettings(project)
  if (merge_trains_enabled === true && (await joinTrain(project, number, merge))) return 'queued'
  // GitLab would merge it immediately, also if its pipeline is only about to be created.
  if (!before.head_pipeline && before.detailed_merge_status === 'mergeable') {
    throw new ForgeError('not_supported', 'It has no pipeline to wait for. Merge it directly.')
  }
  const answer = await sendMerge(project, number, merge, true)
  const pull = await fetchPull(project, number)
  if (pull.state === 'merged' || (isOpen(pull) && pull.merge_when_pipeline_succeeds === true)) return 'auto_merge'
  throw refusal(pull, merge, answer)
}

/** A merge request is squashed as it says itself; the merge can only switch that on. */
async function choose(project: GitlabProject, pull: GitlabPull, { method }: Merge): Promise<void> {
  const { squash_option } = await readSettings(project)
  if (method === 'squash' || !pull.squash || squash_option === 'always') return
  await sendChange(project, pull.iid, { squash: false })
}

/** 401: the account may not merge. 405 and 422: not mergeable. 406: conflicts, in former versions. 409: another head. */
const refusals = [401, 405, 406, 409, 422]

async function sendMerge(
  project: GitlabProject,
  number: number,
  { method, head }: Merge,
  whenReady: boolean,
): Promise<ForgeAnswer> {
  return project.api.send({
    method: 'PUT',
    url: `${await writeUrl(project)}/merge_requests/${number}/merge`,
    body: {
      sha: head,
      squash: method === 'squash',
      should_remove_source_branch: false,
      // The second is what versions before 17.11 know; each leaves out what it doesn't.
      ...(whenReady && { auto_merge: true, merge_when_pipeline_succeeds: true }),
    },
    accept: refusals,
  })
}

/** Answers whether it joined. A project may have trains and the edition, but not the pull request, as from a fork. */
async function joinTrain(project: GitlabProject, number: number, { method, head }: Merge): Promise<boolean> {
  const url = `${await writeUrl(project)}/merge_trains/merge_requests/${number}`
  const body = { sha: head, squash: method === 'squash', auto_merge: true, when_pipeline_succeeds: true }
  const answer = await project.api.send({ method: 'POST', url, body, accept: [400, 403, 404, 409, 422] })
  if (answer.status === 409 && /sha/i.test(messageOf(answer))) throw moved()
  // 409 too: it is on the train already.
  return answer.status < 300 || answer.status === 409
}

const moved = () => new ForgeError('not_mergeable', 'Its branch has new commits. Look at them before it is merged.')

function refusal(pull: GitlabPull, merge: Merge, answer: ForgeAnswer): ForgeError {
  if (pull.state === 'closed') return new ForgeError('not_mergeable', 'It is closed. Reopen it first.')
  if (pull.sha !== merge.head) return moved()
  if (answer.status === 401) {
    return new ForgeError('not_mergeable', "The token's account can't merge into this branch.")
  }
  const reason = reasons[pull.detailed_merge_status]
  const said = messageOf(answer)
  return new ForgeError(
    'not_mergeable',
    reason ?? (said === '' ? 'GitLab refuses to merge it.' : `GitLab says: ${said}`),
  )
}

const reasons: Readonly<Record<string, string>> = {
  approvals_syncing: 'GitLab still checks the approvals. Look again in a moment.',
  checking: 'GitLab still tests for conflicts. Look again in a moment.',
  ci_must_pass: 'Its pipeline must succeed first.',
  ci_still_running: 'Its pipeline is still running.',
  conflict: 'It conflicts with its target.',
  discussions_not_resolved: 'Its threads must be resolved first.',
  draft_status: 'It is a draft. Mark it as ready first.',
  need_rebase: 'It must be rebased onto its target first.',
  not_approved: 'It needs an approval first.',
  preparing: 'GitLab still prepares it. Look again in a moment.',
  requested_changes: 'A reviewer requested changes.',
  unchecked: 'GitLab still tests for conflicts. Look again in a moment.',
}

function messageOf({ json }: ForgeAnswer): string {
  const message: unknown = typeof json === 'object' && json !== null && 'message' in json ? json.message : ''
  return (typeof message === 'string' ? message : JSON.stringify(message)).slice(0, 500)
}
