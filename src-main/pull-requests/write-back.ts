import type { TaskId } from '../../src-shared/contract/ids.ts'
import { isRefusal } from '../domain/refusal.ts'
import { isDone, type Workflow } from '../domain/workflow/graph.ts'
import { redactorOf } from '../core/redactor-of.ts'
import type { Tx } from '../core/event-feed.ts'
import type { IntegrationRecord } from '../ports/issue-trackers.ts'
import type { ForgeIntent, ForgeIntentRecord } from '../ports/pull-request-queries.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { connectionOf } from './connection.ts'
import { issueOf } from './issue-of.ts'
import type { PullRequestDeps } from './pull-request-ground.ts'
import { writeIntent } from './write-intent.ts'

/**
 * Writes down what a task's issue is to be told now, each once. Returns whether there is something to send. It is asked
 * again and again, so it compares with what was written down before.
 */
export function planWriteBack(deps: PullRequestDeps, task_id: TaskId): boolean {
  const { context, transitions } = deps
  const { read } = context.store
  const task = read.tasks.get(task_id)
  const connection = task && connectionOf(read, task)
  if (!task || connection === null || isRefusal(connection)) return false
  const issue = issueOf(read, connection, task)
  if (issue === null) return false
  const wanted = wantedOf(deps, transitions.workflowOf(read, task), task, connection, issue)
  const open = wanted.filter(({ key, intent }) => !isWritten(read.forge_intents.byKey(task_id, key), intent))
  if (open.length === 0) return false
  context.feed.commit((tx) => {
    const place = { task_id, project_id: task.project_id, triggered_by: 'system' }
    for (const { key, intent } of open) writeIntent(context, tx, { ...place, key, intent })
  })
  return true
}

interface Wanted {
  /** The same for the same wish. */
  readonly key: string
  readonly intent: ForgeIntent
}

function wantedOf(
  { context }: PullRequestDeps,
  workflow: Workflow,
  task: TaskRecord,
  { write_back }: IntegrationRecord,
  number: number,
): readonly Wanted[] {
  const { comment, close, label } = write_back
  const wanted: Wanted[] = []
  const done = isDone(workflow, task.status)
  if (done && comment) {
    const body = redactorOf(context, context.store.read, task.project_id)(doneText(context.store.read, task))
    wanted.push({ key: `done:comment:${number}`, intent: { kind: 'comment', number, body } })
  }
  if (done && close) wanted.push({ key: `done:close:${number}`, intent: { kind: 'close_issue', number } })
  if (label !== null) {
    const kind = workflow.states.get(task.status)?.kind
    const on = kind !== undefined && kind !== 'backlog' && kind !== 'initial' && kind !== 'terminal'
    wanted.push({ key: `label:${number}:${label}`, intent: { kind: 'label_issue', number, label, on } })
  }
  return wanted
}

/** A label that was never set need not be taken away. */
function isWritten(known: ForgeIntentRecord | null, intent: ForgeIntent): boolean {
  if (intent.kind !== 'label_issue') return known !== null
  return known === null ? !intent.on : known.intent.kind === 'label_issue' && known.intent.on === intent.on
}

function doneText(q: Pick<Tx, 'pull_requests'>, { id, merge }: TaskRecord): string {
  const pull = q.pull_requests.refOf(id)
  if (pull?.state === 'merged') return `Done: merged with #${pull.number}.`
  if (merge !== null && merge.merged_at !== null) return `Done: ${merge.to.slice(0, 12)} on ${merge.base_branch}.`
  return 'Done.'
}

/** Returns whether an intent may still be sent: what was switched off since isn't. */
export function isWanted({ intent }: ForgeIntentRecord, { pull_requests, write_back }: IntegrationRecord): boolean {
  switch (intent.kind) {
    case 'open':
    case 'reply':
    case 'retarget':
    case 'close':
      return pull_requests.enabled
    case 'delete_branch':
      return pull_requests.enabled && pull_requests.delete_branch
    case 'comment':
      return write_back.comment
    case 'close_issue':
      return write_back.close
    case 'follow_issue':
      return write_back.follow
    case 'label_issue':
      return write_back.label === intent.label
  }
}
