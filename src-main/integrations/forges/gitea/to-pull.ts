import type { Pull } from '../../../ports/forges.ts'
import { readTitle } from './drafts.ts'
import type { GiteaRepository } from './gitea-api.ts'
import { scheduledMark } from './scheduled-merge.ts'
import type { GiteaPull } from './shapes.ts'

/** A test for conflicts takes seconds; one that lasts longer is one that found some. */
const conflictTestMs = 20_000
const keptMs = 86_400_000

export async function toPull(repository: GiteaRepository, pull: GiteaPull): Promise<Pull> {
  const { isDraft, title } = readTitle(pull)
  const opened = isDraft ? 'draft' : 'open'
  return {
    number: pull.number,
    url: pull.html_url,
    state: pull.merged ? 'merged' : pull.state === 'closed' ? 'closed' : opened,
    title,
    body: pull.body ?? '',
    author: pull.user?.login ?? '',
    head: {
      commit: pull.head.sha,
      repository: pull.head.repo?.full_name ?? null,
      branch: pull.head.label === '' ? pull.head.ref : pull.head.label,
    },
    target: pull.base.ref,
    mergeable: await readMergeable(repository, pull, isDraft),
    merge_commit: pull.merged ? (pull.merge_commit_sha ?? null) : null,
    queued: false,
    auto_merge: repository.marks.has(scheduledMark(repository, pull.number)),
    updated_at: pull.updated_at,
  }
}

/**
 * Reads `mergeable`, which is false for conflicts, for drafts, and while the server still tests for conflicts: then it
 * isn't known. A head that has the tip of its target has no conflicts.
 */
async function readMergeable(repository: GiteaRepository, pull: GiteaPull, isDraft: boolean): Promise<boolean | null> {
  if (pull.mergeable && pull.state === 'open') return true
  if (isDraft || pull.state !== 'open' || pull.merge_base === pull.base.sha) return null
  const { key, recall, clock } = repository
  const state = `${key} unmergeable ${pull.number} ${pull.head.sha} ${pull.base.ref} ${pull.base.sha}`
  const since = await recall(
    state,
    () => keptMs,
    async () => clock.now(),
  )
  return clock.now() - since < conflictTestMs ? null : false
}
