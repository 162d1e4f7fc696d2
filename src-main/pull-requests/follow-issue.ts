import type { TaskId } from '../../src-shared/contract/ids.ts'
import { notify } from '../core/notify.ts'
import { isRefusal } from '../domain/refusal.ts'
import type { Workflow } from '../domain/workflow/graph.ts'
import type { ClosedIssue } from '../integrations/rules/read-issue.ts'
import type { IntegrationRecord } from '../ports/issue-trackers.ts'
import type { ForgeIntentRecord } from '../ports/pull-request-queries.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { PullRequestDeps } from './pull-request-ground.ts'
import { isOpenAt } from './rules/pull-states.ts'
import { writeIntent } from './write-intent.ts'

const system = { triggered_by: 'system', agent_id: null, execution_id: null }

/** A merge at the forge closes the issue first, and is heard of later. */
const patienceMs = 60_000

/**
 * Writes down, once for each time that an issue is closed, that its task may follow. Returns whether there is something
 * to do now.
 */
export function noteClosedIssue(
  { context, transitions }: PullRequestDeps,
  task_id: TaskId,
  { number, closed_at }: ClosedIssue,
): boolean {
  const { read } = context.store
  const task = read.tasks.get(task_id)
  if (!task || hasEnded(transitions.workflowOf(read, task), task)) return false
  const key = `follow:${number}:${closed_at}`
  const known = read.forge_intents.byKey(task_id, key)
  if (known) return known.settled_at === null
  const intent = { kind: 'follow_issue', number } as const
  const { project_id } = task
  context.feed.commit((tx) => writeIntent(context, tx, { task_id, project_id, intent, key, triggered_by: 'system' }))
  return true
}

/**
 * Cancels the task of an issue that has stayed closed for a minute, if nothing has come of the task yet; else a person is
 * asked, once. Answers `later` while it is too early to say.
 */
export async function followIssue(
  deps: PullRequestDeps,
  connection: IntegrationRecord,
  { task_id, created_at }: Pick<ForgeIntentRecord, 'task_id' | 'created_at'>,
  number: number,
  signal: AbortSignal,
): Promise<'done' | 'later'> {
  const { context, transitions } = deps
  const { read } = context.store
  if (Date.parse(created_at) + patienceMs > context.clock.now()) return 'later'
  const task = read.tasks.get(task_id)
  if (!task || hasEnded(transitions.workflowOf(read, task), task)) return 'done'
  const { state } = await context.forges.issue(connection, number, { signal })
  if (state !== 'closed') return 'done'
  const pull = read.pull_requests.of(task_id)
  // What was merged completes the task.
  if (pull?.state === 'merged' && !pull.settled) return 'later'
  if (isIdle(deps, task)) {
    const reason = `Its issue #${number} was closed.`
    const cancelled = await deps.actions.cancel(task_id, system, { reason })
    if (!isRefusal(cancelled)) return 'done'
    context.log.info({ task_id, refusal: cancelled }, 'the task of a closed issue could not be cancelled')
  }
  context.feed.commit((tx) => {
    const body = `Its issue #${number} was closed, and there is work on it. Cancel the task, or keep it.`
    const now = tx.tasks.get(task_id)
    if (now) notify(context, tx, now, { event_type: 'pull_request.needs_you', body })
  })
  return 'done'
}

/** Returns whether a task may go without a question: nobody works on it, and it has no work of its own. */
function isIdle({ context, worktrees }: PullRequestDeps, task: TaskRecord): boolean {
  const { read } = context.store
  const pull = read.pull_requests.of(task.id)
  const isFree = read.executions.openOfTask(task.id).length === 0 && !task.entry_barrier
  return isFree && worktrees.of(task) === null && (pull === null || !isOpenAt(pull))
}

const hasEnded = (workflow: Workflow, { archived, status }: TaskRecord): boolean =>
  archived || workflow.states.get(status)?.kind === 'terminal'
