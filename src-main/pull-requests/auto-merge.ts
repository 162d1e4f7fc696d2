import { isRefusal } from '../domain/refusal.ts'
import { ForgeError } from '../ports/forges.ts'
import type { IntegrationRecord } from '../ports/issue-trackers.ts'
import type { PullRequestRecord } from '../ports/pull-request-queries.ts'
import { writingConnectionOf } from './connection.ts'
import { saveChange } from './pull-records.ts'
import type { PullRequestDeps } from './pull-request-ground.ts'
import { mayStillBegin } from './rules/next-sync.ts'
import type { RefusedMerges } from './refused-merges.ts'
import { isGivenUp } from './rules/pull-states.ts'
import { checkMergeOrder } from './stacked-pull.ts'
import { syncPull } from './sync-pull.ts'
import { waitsOf } from './to-pull-request.ts'

/**
 * Merges a pull request that waits for nothing more, where the project wants that: at the judged head, by the forge's own
 * merge, else by its queue. Returns whether it is merged now.
 */
export async function autoMerge(
  deps: PullRequestDeps,
  connection: IntegrationRecord,
  record: PullRequestRecord,
  refused: RefusedMerges,
  signal: AbortSignal,
): Promise<boolean> {
  const { clock, forges, log, store } = deps.context
  const { head, task_id } = record
  if (!connection.pull_requests.auto_merge || record.auto_merge || record.queued) return false
  if (record.last_error !== null || mayStillBegin(record, clock.now())) return false
  const task = store.read.tasks.get(task_id)
  if (!task || isGivenUp(deps.transitions.workflowOf(store.read, task), task)) return false
  if (checkMergeOrder(deps, task, connection)) return false
  const waits = waitsOf(record)
  try {
    if (record.state === 'draft') {
      // Some forges don't work out whether a draft could be merged.
      if (waits.every((wait) => wait === 'draft' || wait === 'forge'))
        saveChange(deps, record, await forges.change(connection, record.number, { draft: false }, { signal }))
      return false
    }
    if (waits.length > 0 || refused.isRefused(record, clock.now())) return false
    const { methods } = await forges.repository(connection, { signal })
    // It may have been switched off while the forge answered.
    if (isRefusal(writingConnectionOf(store.read, record))) return false
    const method = connection.pull_requests.method ?? methods[0] ?? 'merge'
    await mergeOrQueue(deps, connection, record, { method, head }, signal)
    const merged = await syncPull(deps, connection, record, signal, true)
    return merged?.state === 'merged'
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error
    // What the forge wants besides is said by its page; a later poll tries again.
    if (!['unreachable', 'rate_limited'].includes(error.code)) refused.note(record, clock.now())
    log.info({ err: error, task_id }, 'a pull request could not be merged automatically')
    return false
  }
}

async function mergeOrQueue(
  { context: { forges } }: PullRequestDeps,
  connection: IntegrationRecord,
  { number, checks }: PullRequestRecord,
  merge: { readonly method: 'merge' | 'squash' | 'rebase'; readonly head: string },
  signal: AbortSignal,
): Promise<void> {
  // A check that the token can't see may be red: then the forge itself decides.
  if (checks.seen === 'all') {
    try {
      await forges.merge(connection, number, merge, { signal })
      return
    } catch (error) {
      if (!(error instanceof ForgeError) || error.code !== 'not_mergeable') throw error
    }
  }
  try {
    await forges.mergeWhenReady(connection, number, merge, { signal })
  } catch (error) {
    // Where the target requires checks, the forge itself keeps a plain merge from coming before them.
    const isKept = checks.items.some(({ required }) => required === true)
    if (!(error instanceof ForgeError) || error.code !== 'not_supported' || !isKept) throw error
    await forges.merge(connection, number, merge, { signal })
  }
}
