import type { ErrorAnnotation } from '../../src-shared/contract/tasks.ts'
import { notify } from '../core/notify.ts'
import type { BranchRef } from '../ports/branch-ref.ts'
import { PushError } from '../ports/branch-pusher.ts'
import { ForgeError } from '../ports/forges.ts'
import type { IntegrationRecord } from '../ports/issue-trackers.ts'
import type { PullRequestRecord } from '../ports/pull-request-queries.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { WorkspaceError } from '../ports/workspace-error.ts'
import { isRefusal } from '../domain/refusal.ts'
import { withWorktreeLock } from '../workspaces/with-worktree-lock.ts'
import { isAtWork } from '../tasks/update-branch.ts'
import { savePull } from './pull-records.ts'
import type { PullRequestDeps } from './pull-request-ground.ts'
import { addressOf } from './push-work.ts'

type Worktree = BranchRef & { readonly path: string }

/** The ref under which a task's branch at the forge is looked at here. */
const refOfTheirs = (task_id: TaskRecord['id']): string => `refs/copse/pulls/${task_id}`

/** The mark that the commits of others at a head were looked at, and that the worktree has them. */
const seen = (head: string): string => `others:${head}`
const taken = (head: string): string => `taken:${head}`

/** Returns whether all that is at the forge is Copse's own or in the worktree, so that work can go on from there. */
export const hasTheirs = ({ head, pushed, given }: PullRequestRecord): boolean =>
  head === pushed || given.includes(taken(head))

/**
 * Brings what others pushed to a task's branch into its worktree, if that only moves it forward. Where both sides have
 * commits of their own, a person decides. Each head is looked at once.
 */
export async function takeOthersWork(
  deps: PullRequestDeps,
  connection: IntegrationRecord,
  record: PullRequestRecord,
  signal: AbortSignal,
): Promise<void> {
  const { context, worktrees } = deps
  const { read } = context.store
  const { head, pushed, given } = record
  const task = read.tasks.get(record.task_id)
  if (!task || pushed === null || hasTheirs(record) || given.includes(seen(head))) return
  if (task.error_annotation !== null || task.entry_barrier || isAtWork(read, task)) return
  const workspace = worktrees.of(task)
  const ref = workspace && (await worktrees.ref(workspace))
  if (!ref || ref.path === null) return
  const worktree = { ...ref, path: ref.path }
  try {
    const relation = await bringIn(deps, connection, record, worktree, signal)
    if (relation !== null) note(deps, record, relation)
  } catch (error) {
    const isExpected = error instanceof PushError || error instanceof ForgeError || error instanceof WorkspaceError
    if (signal.aborted || !isExpected) throw error
    context.log.info({ err: error, task_id: task.id }, 'the commits of others could not be brought in yet')
  }
}

type Relation = 'has' | 'moved' | 'diverged'

/** Returns null if the forge has moved on or a run has begun since: the next poll looks again. */
async function bringIn(
  deps: PullRequestDeps,
  connection: IntegrationRecord,
  { task_id, head }: PullRequestRecord,
  worktree: Worktree,
  signal: AbortSignal,
): Promise<Relation | null> {
  const { context } = deps
  const { repo_path } = worktree
  const theirs = await fetchTheirs(deps, connection, task_id, worktree, signal)
  const place = context.places.of(task_id)
  const work = await place.work.work(worktree, { signal })
  if (theirs !== head || work === null) return null
  const relation = await context.pusher.relation(repo_path, work.head, theirs, { signal })
  if (relation === 'same' || relation === 'ahead') return 'has'
  const isClean = (await context.target.treeOf(repo_path, work.head, { signal })) === work.tree
  if (relation === 'diverged' || !isClean) return 'diverged'
  const task = context.store.read.tasks.get(task_id)
  if (task === null || isAtWork(context.store.read, task)) return null
  const replaced = await withWorktreeLock(context, task_id, worktree.path, async () => {
    await place.elsewhere.replaceWork(worktree, task_id, theirs, { signal })
    return { done: true } as const
  })
  return isRefusal(replaced) ? null : 'moved'
}

/** Fetches a task's branch at the forge; null if it is gone. Throws `PushError` and `ForgeError`. */
export async function fetchTheirs(
  deps: PullRequestDeps,
  connection: IntegrationRecord,
  task_id: TaskRecord['id'],
  { repo_path, branch }: BranchRef,
  signal: AbortSignal,
): Promise<string | null> {
  const { forges, pusher } = deps.context
  const { fork, remote } = connection.pull_requests
  const repository = await forges.repository(connection, { signal })
  const address = await addressOf(deps, connection, { repository, repo_path, fork, remote }, signal)
  if ('code' in address) throw new ForgeError('refused', address.message)
  return await pusher.fetch({ ...address, branch, into_ref: refOfTheirs(task_id) }, { signal })
}

function note(deps: PullRequestDeps, { task_id, number, head }: PullRequestRecord, relation: Relation): void {
  const { context } = deps
  context.feed.commit((tx) => {
    const task = tx.tasks.get(task_id)
    const current = tx.pull_requests.of(task_id)
    if (!task || current?.number !== number) return
    const marks = [seen(head), ...(relation === 'diverged' ? [] : [taken(head)])]
    savePull(deps, tx, { ...current, given: [...current.given, ...marks] })
    if (relation === 'has') return
    const annotation = divergedFrom(`#${number}`)
    if (relation === 'diverged') tx.saveTask({ ...task, error_annotation: annotation })
    const body =
      relation === 'diverged'
        ? annotation.message
        : `Others pushed to #${number}. Their commits are in the worktree now; no review here has judged them.`
    notify(context, tx, task, { event_type: 'pull_request.needs_you', body })
  })
}

/** Notes that the worktree has what the forge has. */
export function noteTaken(deps: PullRequestDeps, task_id: TaskRecord['id'], head: string): void {
  const { context } = deps
  context.feed.commit((tx) => {
    const record = tx.pull_requests.of(task_id)
    if (record) savePull(deps, tx, { ...record, given: [...record.given, taken(head)], next_poll_at: tx.now() })
  })
}

/** What a task says where its branch here and at the forge have both moved. `where` names the other one. */
export const divergedFrom = (where: string): ErrorAnnotation => ({
  type: 'pull_request_diverged',
  message: `${where} has commits that this task doesn't have, and this task has others. Take theirs or keep yours; the other ones are kept as a rescue.`,
  recovery_actions: ['take_theirs', 'keep_ours'],
})
