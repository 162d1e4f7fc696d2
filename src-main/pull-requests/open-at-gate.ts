import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { PluginResult } from '../core/plugin-result.ts'
import { notify } from '../core/notify.ts'
import { isRefusal } from '../domain/refusal.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { divergedFrom } from './others-work.ts'
import { openPull, writeDown, type OpenWish } from './open-pull.ts'
import { isGivenUp } from './rules/pull-states.ts'
import { isTransient } from './rules/transient.ts'
import type { PullRequestDeps } from './pull-request-ground.ts'
import { isStackWait } from './stacked-pull.ts'

/** Opens or updates the pull request of a task at its gate. What is in the way is shown on the task, which stays. */
export async function openAtGate(
  deps: PullRequestDeps,
  task_id: TaskRecord['id'],
  wish: OpenWish,
  triggered_by: string,
  signal: AbortSignal,
): Promise<PluginResult> {
  const opened = await openPull(deps, task_id, wish, triggered_by, signal)
  if (!isRefusal(opened)) {
    const { number, head } = opened.record
    return { kind: 'ok', note: `#${number} ${opened.created ? 'opened' : 'updated'}, at ${head.slice(0, 12)}` }
  }
  if (isTransient(opened)) return { kind: 'ok', note: `${opened.message} It is tried again.` }
  if (hasDiverged(opened)) return { kind: 'held', annotation: divergedFrom(`The branch at the forge`) }
  if (isStackWait(opened)) {
    const task = deps.context.store.read.tasks.get(task_id)
    if (task) writeDown(deps, task, wish, triggered_by)
    return { kind: 'ok', note: `${opened.message} It is opened or updated then.` }
  }
  return {
    kind: 'held',
    annotation: {
      type: 'hook_failed',
      message: opened.message,
      recovery_actions: ['retry_hook'],
    },
  }
}

/** Returns whether the branch at the forge has commits that the work here hasn't. */
const hasDiverged = ({ code, details }: Refusal): boolean => code === 'push_rejected' && details?.['reason'] === 'moved'

/**
 * Opens what could not be opened before, and returns whether it is open now. What is for good in the way is shown on the
 * task now.
 */
export async function openAgain(
  deps: PullRequestDeps,
  task_id: TaskRecord['id'],
  { draft, title, body }: OpenWish,
  triggered_by: string,
  signal: AbortSignal,
): Promise<boolean> {
  const { context, transitions } = deps
  const { read } = context.store
  const task = read.tasks.get(task_id)
  if (!task || isGivenUp(transitions.workflowOf(read, task), task)) {
    settleOpen(deps, task_id, 'The task was given up.', false)
    return false
  }
  const opened = await openPull(deps, task_id, { draft, title, body }, triggered_by, signal)
  if (!isRefusal(opened)) return true
  if (isTransient(opened) || isStackWait(opened)) return false
  // Work that went back to its coder comes to the gate again.
  const isBack = opened.code === 'review_not_ready' && read.tasks.get(task_id)?.review_passed_at === null
  settleOpen(deps, task_id, opened.message, !isBack)
  return false
}

/** The wish itself is settled or was not even begun: a person, or the gate, begins again. */
function settleOpen({ context }: PullRequestDeps, task_id: TaskRecord['id'], why: string, isTold: boolean): void {
  context.feed.commit((tx) => {
    for (const one of tx.forge_intents.pending(task_id)) {
      if (one.intent.kind === 'open') tx.forge_intents.put({ ...one, settled_at: tx.now(), error: why })
    }
    const task = isTold ? tx.tasks.get(task_id) : null
    if (task) notify(context, tx, task, { event_type: 'pull_request.needs_you', body: why })
  })
}
