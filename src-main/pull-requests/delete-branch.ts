import type { Tx } from '../core/event-feed.ts'
import { PushError } from '../ports/branch-pusher.ts'
import { ForgeError } from '../ports/forges.ts'
import type { IntegrationRecord } from '../ports/issue-trackers.ts'
import type { ForgeIntentRecord, PullRequestRecord } from '../ports/pull-request-queries.ts'
import { WorkspaceError } from '../ports/workspace-error.ts'
import type { PullRequestDeps } from './pull-request-ground.ts'
import { addressOf } from './push-work.ts'
import { writeIntent } from './write-intent.ts'

/** Writes down that the branch of a merged pull request is to go, where the project wants that. */
export function planDeletion(
  { context }: Pick<PullRequestDeps, 'context'>,
  tx: Tx,
  { pull_requests }: Pick<IntegrationRecord, 'pull_requests'>,
  { task_id, project_id, number, repository, branch, target, head, pushed }: PullRequestRecord,
): void {
  const key = `delete_branch:${number}`
  // A branch that Copse never pushed is not its to delete.
  if (!pull_requests.delete_branch || pushed === null || branch === target) return
  if (tx.forge_intents.byKey(task_id, key) !== null) return
  const intent = { kind: 'delete_branch', number, repository, branch, head } as const
  writeIntent(context, tx, { task_id, project_id, intent, key, triggered_by: 'system' })
}

/** How long it is waited for others who use the branch. */
const patienceMs = 7 * 86_400_000

/**
 * Deletes the branch of a merged pull request: by a push with a lease, because no forge's API deletes a branch only at a
 * commit. A branch that is gone, or has commits that were not merged, is left as it is; one that an open pull request
 * still uses is `later`'s. Throws `ForgeError`.
 */
export async function deleteMergedBranch(
  deps: PullRequestDeps,
  connection: IntegrationRecord,
  { intent, task_id, created_at }: ForgeIntentRecord,
  signal: AbortSignal,
): Promise<'done' | 'later'> {
  if (intent.kind !== 'delete_branch') return 'done'
  const { forges, pusher, store, clock } = deps.context
  const { repository: name, branch, head } = intent
  const lying = await forges.repository(sourceAt(connection, name), { signal })
  const uses = await usesOf(deps, connection, { repository: name, branch }, signal)
  if (uses.length > 0) return clock.now() - Date.parse(created_at) < patienceMs ? 'later' : 'done'
  const task = store.read.tasks.get(task_id)
  const repo_path = task && (deps.worktrees.of(task)?.repo_path ?? store.read.repos.get(task.repo_id)?.path)
  if (!repo_path) return 'done'
  try {
    const { remote } = connection.pull_requests
    const there = { repository: lying, repo_path, fork: null, remote }
    const address = await addressOf(deps, connection, there, signal)
    if ('code' in address) throw new ForgeError('refused', stays(branch, address.message))
    await pusher.delete({ ...address, branch, expected: head }, { signal })
    return 'done'
  } catch (error) {
    if (signal.aborted) throw error
    if (error instanceof WorkspaceError) throw new ForgeError('refused', stays(branch, error.message))
    throw error instanceof PushError ? forgeErrorOf(error, branch) : error
  }
}

/** Returns the numbers of the open pull requests into the branch or from it, also from a fork to its origin. */
async function usesOf(
  { context: { forges } }: PullRequestDeps,
  connection: IntegrationRecord,
  branch: { readonly repository: string; readonly branch: string },
  signal: AbortSignal,
): Promise<readonly number[]> {
  const here = await forges.openOf(connection, branch, { signal })
  const fork = sourceAt(connection, branch.repository)
  const isHere = `${connection.owner}/${connection.repo}`.toLowerCase() === branch.repository.toLowerCase()
  return here.length > 0 || isHere ? here : await forges.openOf(fork, branch, { signal })
}

/** Returns how a repository of the same forge is asked. */
function sourceAt(connection: IntegrationRecord, name: string): IntegrationRecord {
  const at = name.lastIndexOf('/')
  return { ...connection, owner: name.slice(0, at), repo: name.slice(at + 1) }
}

/** What a person can mend later is tried again; what the forge refuses is told and given up. */
function forgeErrorOf({ code, message }: PushError, branch: string): ForgeError {
  if (code === 'unreachable' || code === 'unauthorized' || code === 'missing_secret') {
    return new ForgeError(code, message)
  }
  return new ForgeError('refused', stays(branch, message))
}

const stays = (branch: string, why: string) => `The merged branch ${branch} was not deleted. ${why}`
