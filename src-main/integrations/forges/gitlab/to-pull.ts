import type { Pull } from '../../../ports/forges.ts'
import { parseAnswer } from '../parse-answer.ts'
import { unlessRefused } from '../unless-refused.ts'
import { unescapeCommands } from './commands.ts'
import { isDraft, readTitle } from './drafts.ts'
import { label, type GitlabProject } from './gitlab-api.ts'
import { pathOf, readSettings } from './project.ts'
import { GitlabPull, GitlabTrainCar } from './shapes.ts'

export async function toPull(project: GitlabProject, json: unknown): Promise<Pull> {
  const pull = parseAnswer(GitlabPull, json, label)
  const asDraft = isDraft(pull)
  const queued = await isQueued(project, pull)
  return {
    number: pull.iid,
    url: pull.web_url,
    state: stateOf(pull, asDraft),
    title: readTitle(pull.title, asDraft),
    body: unescapeCommands(pull.description ?? ''),
    author: pull.author?.username ?? '',
    head: {
      commit: pull.sha ?? '',
      repository: pull.source_project_id ? await pathOf(project, pull.source_project_id) : null,
      branch: pull.source_branch,
    },
    target: pull.target_branch,
    mergeable: mergeableOf(pull),
    merge_commit: mergeCommitOf(pull),
    queued,
    auto_merge: !queued && isOpen(pull) && pull.merge_when_pipeline_succeeds === true,
    updated_at: pull.updated_at,
  }
}

/** `locked`: it is being merged. */
export const isOpen = ({ state }: GitlabPull) => state === 'opened' || state === 'locked'

function stateOf(pull: GitlabPull, asDraft: boolean): Pull['state'] {
  if (pull.state === 'merged' || pull.state === 'closed') return pull.state
  return asDraft ? 'draft' : 'open'
}

/** Fast-forward has neither a merge nor a squash: the target is at the head. */
export function mergeCommitOf(pull: GitlabPull): string | null {
  if (pull.state !== 'merged') return null
  return pull.merge_commit_sha ?? pull.squash_commit_sha ?? pull.sha ?? null
}

const computing = ['unchecked', 'checking', 'preparing', 'cannot_be_merged_recheck', 'cannot_be_merged_rechecking']
const conflicting = ['conflict', 'need_rebase', 'broken_status', 'cannot_be_merged']

/** Reads whether it merges cleanly. What else it waits for, as approvals, comes first in `detailed_merge_status`. */
function mergeableOf(pull: GitlabPull): boolean | null {
  const told = [pull.detailed_merge_status, pull.merge_status]
  if (!isOpen(pull) || told.some((status) => computing.includes(status))) return null
  if (pull.detailed_merge_status === 'commits_status') return null
  return !(pull.has_conflicts === true || told.some((status) => conflicting.includes(status)))
}

/** A merge train is asked for only where a merge was left to GitLab, and the project has trains. */
async function isQueued(project: GitlabProject, pull: GitlabPull): Promise<boolean> {
  if (pull.merge_when_pipeline_succeeds !== true || !isOpen(pull)) return false
  const { merge_trains_enabled } = await readSettings(project)
  if (merge_trains_enabled !== true) return false
  const url = `${project.url}/merge_trains/merge_requests/${pull.iid}`
  const answer = await unlessRefused(['not_found', 'forbidden'], () => project.api.send({ url }))
  if (answer === null) return false
  const { status } = parseAnswer(GitlabTrainCar, answer.json, label)
  return ['idle', 'stale', 'fresh', 'merging'].includes(status)
}
