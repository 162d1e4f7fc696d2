import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { TaskId } from '../../src-shared/contract/ids.ts'
import { isRefusal, notFound } from '../domain/refusal.ts'
import { bindBeforeSending } from '../integrations/secret-bindings.ts'
import type { MergeMethod, Pull } from '../ports/forges.ts'
import type { IntegrationRecord } from '../ports/issue-trackers.ts'
import type { PullRequestRecord } from '../ports/pull-request-queries.ts'
import { redactorOf } from '../core/redactor-of.ts'
import { closedRefusal, connectionOf, writingConnectionOf } from './connection.ts'
import { followStack } from './follow-stack.ts'
import { refusalOf } from './forge-errors.ts'
import { saveChange } from './pull-records.ts'
import type { PullRequestDeps } from './pull-request-ground.ts'
import { isOpenAt } from './rules/pull-states.ts'
import { syncPull } from './sync-pull.ts'
import { checkMergeOrder, newTarget } from './stacked-pull.ts'
import { waitsOf } from './to-pull-request.ts'
import { sendReply } from './send-intents.ts'
import { writeIntent } from './write-intent.ts'

interface Known {
  readonly record: PullRequestRecord
  readonly connection: IntegrationRecord
}

/** Returns a task's pull request and the integration by which it is asked for. */
function find({ context }: PullRequestDeps, task_id: TaskId, writes: boolean): Known | Refusal {
  const { read } = context.store
  const task = read.tasks.get(task_id)
  if (!task) return notFound('task')
  const record = read.pull_requests.of(task_id)
  if (!record) return notFound('pull_request')
  const connection = writes ? writingConnectionOf(read, task) : connectionOf(read, task)
  return isRefusal(connection) ? connection : { record, connection }
}

/** Asks the forge now. */
export async function syncNow(
  deps: PullRequestDeps,
  task_id: TaskId,
  signal: AbortSignal,
): Promise<PullRequestRecord | Refusal> {
  const known = find(deps, task_id, false)
  if (isRefusal(known)) return known
  try {
    const synced = await syncPull(deps, known.connection, known.record, signal, true)
    return synced ?? notFound('pull_request')
  } catch (error) {
    return refusalOf(error)
  }
}

type Change = (known: Known) => Promise<Pull>

/** Changes a pull request at the forge and saves what the forge says it is then. */
async function change(
  deps: PullRequestDeps,
  task_id: TaskId,
  check: (record: PullRequestRecord) => Refusal | null,
  make: Change,
): Promise<PullRequestRecord | Refusal> {
  const known = find(deps, task_id, true)
  if (isRefusal(known)) return known
  const refusal = check(known.record)
  if (refusal) return refusal
  try {
    bindBeforeSending(deps.context, known.connection)
    const pull = await make(known)
    return saveChange(deps, known.record, pull) ?? notFound('pull_request')
  } catch (error) {
    return refusalOf(error)
  }
}

export async function closePull(deps: PullRequestDeps, task_id: TaskId, signal: AbortSignal) {
  return await change(deps, task_id, closedRefusal, ({ connection, record }) =>
    deps.context.forges.change(connection, record.number, { state: 'closed' }, { signal }),
  )
}

export async function reopenPull(deps: PullRequestDeps, task_id: TaskId, signal: AbortSignal) {
  const isMerged = (record: PullRequestRecord) => (record.state === 'merged' ? closedRefusal(record) : null)
  return await change(deps, task_id, isMerged, ({ connection, record }) => {
    // The branch that it went to may be gone.
    const moved = newTarget(deps, deps.context.store.read, record, connection)
    const change = { state: 'open', ...(moved && { target: moved.to }) } as const
    return deps.context.forges.change(connection, record.number, change, { signal })
  })
}

export async function readyPull(deps: PullRequestDeps, task_id: TaskId, signal: AbortSignal) {
  return await change(deps, task_id, closedRefusal, ({ connection, record }) =>
    deps.context.forges.change(connection, record.number, { draft: false }, { signal }),
  )
}

export interface MergeWish {
  readonly method: MergeMethod | null
  /** Leave it to the forge's queue or auto-merge. */
  readonly when_ready: boolean
}

/**
 * Merges a pull request at the forge, at the commit that was judged here. Copse asks itself first: an admin's token
 * would merge past red checks.
 */
export async function mergePull(
  deps: PullRequestDeps,
  task_id: TaskId,
  { method, when_ready }: MergeWish,
  signal: AbortSignal,
): Promise<PullRequestRecord | Refusal> {
  const known = find(deps, task_id, true)
  if (isRefusal(known)) return known
  const { connection } = known
  const closed = closedRefusal(known.record)
  if (closed) return closed
  const task = deps.context.store.read.tasks.get(task_id)
  const tooEarly = task && checkMergeOrder(deps, task, connection)
  if (tooEarly) return tooEarly
  // A branch that was just brought along is pushed first: the commit before may have what the base has already.
  await followStack(deps, task_id, signal)
  try {
    const record = await syncPull(deps, connection, known.record, signal, true)
    if (!record) return notFound('pull_request')
    const gone = closedRefusal(record)
    if (gone) return record.state === 'merged' ? record : gone
    const waits = waitsOf(record)
    // The forge may wait for these by itself.
    const held = when_ready ? waits.filter((wait) => ['conflict', 'draft', 'review'].includes(wait)) : waits
    if (held.length > 0) return notMergeable(record, held)
    const { methods } = await deps.context.forges.repository(connection, { signal })
    const [preferred = 'merge'] = methods
    const merge = { method: method ?? connection.pull_requests.method ?? preferred, head: record.head }
    if (when_ready) await deps.context.forges.mergeWhenReady(connection, record.number, merge, { signal })
    else await deps.context.forges.merge(connection, record.number, merge, { signal })
    return (await syncPull(deps, connection, record, signal, true)) ?? notFound('pull_request')
  } catch (error) {
    return refusalOf(error)
  }
}

function notMergeable({ number }: PullRequestRecord, waiting_for: readonly string[]): Refusal {
  return {
    code: 'not_mergeable',
    message: `#${number} can't be merged yet: it waits for ${waiting_for.join(', ')}.`,
    details: { waiting_for },
  }
}

export interface ReplyWish {
  readonly thread: string
  readonly body: string
  readonly resolve: boolean
}

/** Answers a thread at the forge; what a run answers waits for the next push, for it tells of work that comes with it. */
export async function replyToThread(
  deps: PullRequestDeps,
  task_id: TaskId,
  wish: ReplyWish,
  { triggered_by, with_push }: { readonly triggered_by: string; readonly with_push: boolean },
  signal: AbortSignal,
): Promise<PullRequestRecord | Refusal> {
  const { context } = deps
  const known = find(deps, task_id, true)
  if (isRefusal(known)) return known
  const { record, connection } = known
  if (!isOpenAt(record)) return closedRefusal(record) ?? notFound('pull_request')
  const thread = record.threads.items.find(({ id }) => id === wish.thread)
  if (!thread) return notFound('thread')
  const { can } = connection
  if (can.reply === false || (wish.resolve && can.resolve === false)) return unsupported(can.reply === false)
  // An agent's answer resolves its thread where the project wants that.
  const resolve = wish.resolve || (with_push && connection.pull_requests.auto_fix.resolve && can.resolve !== false)
  const intent = context.feed.commit((tx) => {
    const body = redactorOf(context, tx, record.project_id)(wish.body)
    const { project_id } = record
    const reply = { kind: 'reply', ...wish, body, resolve } as const
    // A run that begins again answers again: what it said last is sent.
    const key = with_push ? `reply:${wish.thread}:${thread.comments.at(-1)?.id ?? ''}` : null
    return writeIntent(context, tx, { task_id, project_id, intent: reply, key, triggered_by, with_push })
  })
  if (with_push) return record
  try {
    bindBeforeSending(context, connection)
    await sendReply(deps, connection, record, intent, signal)
    return (await syncPull(deps, connection, record, signal, true)) ?? notFound('pull_request')
  } catch (error) {
    return refusalOf(error)
  }
}

const unsupported = (replies: boolean): Refusal => ({
  code: 'not_supported',
  message: replies
    ? 'This forge takes no answers over its API. Answer on its page.'
    : "This forge can't resolve threads over its API. Resolve it on its page.",
})
