import type { FakePull, MergeMethod } from './state.ts'
import { isProtected, mergeState, protectedBy, protectionOf } from './rules.ts'
import { end, mergeOf, type World } from './world.ts'

/** Merges a pull request by git, whatever its rules say, and returns the commit. */
export async function mergeNow(world: World, pull: FakePull, method: MergeMethod): Promise<string> {
  const merge_commit = await world.git.merge(mergeOf(pull, method))
  end(world, pull, { merged: true, merge_commit })
  return merge_commit
}

/** Merges, or queues, what waits for its rules and may go on. */
export async function settle(world: World): Promise<void> {
  for (const { pulls } of world.repositories) {
    for (const pull of pulls.values()) {
      if (pull.auto_merge === null || pull.state !== 'open' || mergeState(pull) === 'blocked' || pull.conflict) continue
      if (protectionOf(pull).queue) Object.assign(pull, { queued: true, auto_merge: null })
      else await mergeNow(world, pull, pull.auto_merge.method)
    }
  }
}

/** Returns why auto-merge can't be enabled, in GitHub's words. */
export function noAutoMerge(pull: FakePull): string | null {
  if (!pull.repository.allow_auto_merge) return 'Pull request Auto merge is not allowed for this repository'
  if (pull.draft) return 'Pull request Pull request is in draft state'
  if (!isProtected(protectionOf(pull))) return 'Pull request Protected branch rules not configured for this branch'
  const state = mergeState(pull)
  return state === 'clean' || state === 'unstable' ? `Pull request Pull request is in ${state} status` : null
}

/** Returns why it can't be put into the queue, in GitHub's words. */
export function notQueueable(pull: FakePull): string | null {
  if (!protectionOf(pull).queue) return 'Pull request The merge queue is not enabled for this branch'
  if (pull.queued) return 'Pull request is already in the queue'
  if (pull.draft) return 'Pull request is in draft state'
  const reason = protectedBy(pull)
  return reason === null ? null : `Pull request ${reason}`
}
