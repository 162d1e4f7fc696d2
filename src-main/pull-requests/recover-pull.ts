import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { PullRequestRecovery } from '../../src-shared/contract/action-names.ts'
import { isRefusal, notFound } from '../domain/refusal.ts'
import { withWorktreeLock } from '../workspaces/with-worktree-lock.ts'
import { isAtWork } from '../tasks/update-branch.ts'
import { workspaceLocked } from '../tasks/rules/claim-guard.ts'
import { resumeStep } from '../tasks/recover-task.ts'
import { checkRecovery } from '../tasks/recovery-actions.ts'
import { reopenPull } from './act-on-pull.ts'
import { afterMerge } from './follow-merge.ts'
import { pushRefusal } from './push-work.ts'
import { PushError } from '../ports/branch-pusher.ts'
import { fetchTheirs, noteTaken } from './others-work.ts'
import { openPull } from './open-pull.ts'
import { savePull } from './pull-records.ts'
import { writingConnectionOf } from './connection.ts'
import { refusalOf } from './forge-errors.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { PullRequestDeps } from './pull-request-ground.ts'
import { isWaiting } from './is-waiting.ts'

/** Does what a person chose for a pull request that was closed, merged without the newest work, or not fixed. */
export async function recoverPull(
  deps: PullRequestDeps,
  task_id: TaskId,
  action: PullRequestRecovery,
  triggered_by: string,
  signal: AbortSignal,
): Promise<{ readonly done: true } | Refusal> {
  const { context } = deps
  const task = context.store.read.tasks.get(task_id)
  if (!task) return notFound('task')
  const refusal = checkRecovery(task, action)
  if (refusal) return refusal
  switch (action) {
    case 'reopen_pull_request': {
      const reopened = await reopenPull(deps, task_id, signal)
      if (isRefusal(reopened)) return reopened
      clear(deps, task_id, false)
      return { done: true }
    }
    case 'fix_again':
      clear(deps, task_id, true)
      return { done: true }
    case 'finish':
      return finish(deps, task_id, triggered_by)
    case 'take_theirs':
    case 'keep_ours':
      return await decideDiverged(deps, task, action, triggered_by, signal)
    case 'new_pull_request':
      return await replace(deps, task_id, triggered_by, signal)
  }
}

/** Takes the error away; `again`: the rounds are counted from zero. */
function clear(deps: PullRequestDeps, task_id: TaskId, again: boolean): void {
  const { context } = deps
  context.feed.commit((tx) => {
    const task = tx.tasks.get(task_id)
    if (task) tx.saveTask({ ...task, error_annotation: null, last_human_action_id: context.newId() })
    const record = tx.pull_requests.of(task_id)
    if (record && again) savePull(deps, tx, { ...record, rounds: 0, given: [], next_poll_at: tx.now() })
  })
}

/** Completes a task whose newest work the merged pull request hasn't; clean-up keeps that work as a rescue. */
function finish(deps: PullRequestDeps, task_id: TaskId, triggered_by: string): { readonly done: true } | Refusal {
  const { context, transitions } = deps
  const moved = context.feed.commit((tx) => {
    const task = tx.tasks.get(task_id)
    if (!task) return notFound('task')
    const to = afterMerge(transitions.workflowOf(tx, task))
    if (!to)
      return { code: 'invalid_transition', message: 'The workflow no longer has a gate for pull requests.' } as const
    const move = { to: to.name, cause: 'pull_merged', triggered_by, version: null, checked: [] } as const
    return transitions.apply(tx, task, {
      ...move,
      reason: 'Finished without the newest work.',
      patch: { error_annotation: null },
    })
  })
  if (isRefusal(moved)) return moved
  deps.worker.wake(task_id)
  return { done: true }
}

/**
 * Brings the branch here to what is at the forge, or the branch at the forge to the judged work here. What is given up
 * is kept as a rescue.
 */
async function decideDiverged(
  deps: PullRequestDeps,
  task: TaskRecord,
  action: 'take_theirs' | 'keep_ours',
  triggered_by: string,
  signal: AbortSignal,
): Promise<{ readonly done: true } | Refusal> {
  const { context, worktrees } = deps
  const connection = writingConnectionOf(context.store.read, task)
  if (isRefusal(connection)) return connection
  const workspace = worktrees.of(task)
  const ref = workspace && (await worktrees.ref(workspace))
  if (!ref || ref.path === null) return noWorktree
  const worktree = { ...ref, path: ref.path }
  const { elsewhere } = context.places.of(task.id)
  try {
    const theirs = await fetchTheirs(deps, connection, task.id, worktree, signal)
    if (theirs === null) return { code: 'not_found', message: `${ref.branch} is gone at the forge.` }
    // While it was fetched, a run may have begun.
    if (isAtWork(context.store.read, task)) return workspaceLocked
    if (action === 'take_theirs') {
      const replaced = await withWorktreeLock(context, task.id, worktree.path, async () => {
        await elsewhere.replaceWork(worktree, task.id, theirs, { signal })
        return { done: true } as const
      })
      if (isRefusal(replaced)) return replaced
      noteTaken(deps, task.id, theirs)
      goOn(deps, task.id)
      return { done: true }
    }
    await elsewhere.keepCommit(worktree, task.id, theirs, { signal })
    const wish = { draft: null, title: null, body: null, replaces: theirs }
    const opened = await openPull(deps, task.id, wish, triggered_by, signal)
    if (isRefusal(opened)) return opened
    goOn(deps, task.id)
    return { done: true }
  } catch (error) {
    return error instanceof PushError ? pushRefusal(error) : refusalOf(error)
  }
}

/** Takes the error away, and lets the step that it held try again. */
function goOn(deps: PullRequestDeps, task_id: TaskId): void {
  clear(deps, task_id, false)
  deps.context.feed.commit((tx) => {
    resumeStep(tx, task_id)
  })
  deps.worker.wake(task_id)
}

const noWorktree: Refusal = {
  code: 'workspace_failed',
  message: 'The worktree of this task is gone. Let its agent work on it again, then choose.',
}

/** Forgets the merged or closed pull request; at the gate a new one is opened at once, else when the task comes there. */
async function replace(
  deps: PullRequestDeps,
  task_id: TaskId,
  triggered_by: string,
  signal: AbortSignal,
): Promise<{ readonly done: true } | Refusal> {
  const { context } = deps
  const isAtGate = context.feed.commit((tx) => {
    tx.pull_requests.delete(task_id)
    const task = tx.tasks.get(task_id)
    if (task) tx.saveTask({ ...task, error_annotation: null, last_human_action_id: context.newId() })
    return task !== null && isWaiting(deps, tx, task)
  })
  if (!isAtGate) return { done: true }
  const opened = await openPull(deps, task_id, { draft: null, title: null, body: null }, triggered_by, signal)
  return isRefusal(opened) ? opened : { done: true }
}
