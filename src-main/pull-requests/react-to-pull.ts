import type { ErrorAnnotation } from '../../src-shared/contract/tasks.ts'
import { notify } from '../core/notify.ts'
import type { IntegrationRecord } from '../ports/issue-trackers.ts'
import type { PullRequestRecord } from '../ports/pull-request-queries.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { answerFindings } from './answer-findings.ts'
import { autoMerge } from './auto-merge.ts'
import { followMerge } from './follow-merge.ts'
import { followStack } from './follow-stack.ts'
import { isWaiting } from './is-waiting.ts'
import { takeOthersWork } from './others-work.ts'
import type { PullRequestDeps } from './pull-request-ground.ts'
import type { RefusedMerges } from './refused-merges.ts'

/** Does what follows from what the forge told last. Safe to repeat: what was done is seen from the task. */
export async function reactToPull(
  deps: PullRequestDeps,
  connection: IntegrationRecord,
  task_id: TaskRecord['id'],
  refused: RefusedMerges,
  signal: AbortSignal,
): Promise<void> {
  const { read } = deps.context.store
  const record = read.pull_requests.of(task_id)
  if (!record || record.settled) return
  if (record.state === 'merged') await followMerge(deps, connection, record, signal)
  else if (record.state === 'closed') noteClosed(deps, record)
  else {
    forgetClosed(deps, record)
    if (isAtGate(deps, record)) await takeOthersWork(deps, connection, record, signal)
    if (!(await followStack(deps, task_id, signal))) return
    await answerFindings(deps, connection, read.pull_requests.of(task_id) ?? record, signal)
    const current = read.pull_requests.of(task_id)
    if (current && (await autoMerge(deps, connection, current, refused, signal))) {
      await reactToPull(deps, connection, task_id, refused, signal)
    }
  }
}

const closedBy = ({ number }: PullRequestRecord): ErrorAnnotation => ({
  type: 'pull_request_closed',
  message: `#${number} was closed without merging.`,
  recovery_actions: ['reopen_pull_request', 'new_pull_request'],
})

/** Tells once that it was closed, on the task that waits for it. */
function noteClosed(deps: PullRequestDeps, record: PullRequestRecord): void {
  const { context } = deps
  context.feed.commit((tx) => {
    const task = tx.tasks.get(record.task_id)
    // Nobody asks for an archived task.
    if (!task || task.archived || !isWaiting(deps, tx, task) || task.error_annotation?.type === 'pull_request_closed')
      return
    const annotation = closedBy(record)
    tx.saveTask({ ...task, error_annotation: annotation })
    notify(context, tx, task, { event_type: 'pull_request.needs_you', body: annotation.message })
  })
}

function forgetClosed({ context }: PullRequestDeps, { task_id }: PullRequestRecord): void {
  const { read } = context.store
  if (read.tasks.get(task_id)?.error_annotation?.type !== 'pull_request_closed') return
  context.feed.commit((tx) => {
    const task = tx.tasks.get(task_id)
    if (task) tx.saveTask({ ...task, error_annotation: null })
  })
}

function isAtGate(deps: PullRequestDeps, { task_id }: PullRequestRecord): boolean {
  const { read } = deps.context.store
  const task = read.tasks.get(task_id)
  return task !== null && isWaiting(deps, read, task)
}
