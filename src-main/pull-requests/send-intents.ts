import type { TaskId } from '../../src-shared/contract/ids.ts'
import { notify } from '../core/notify.ts'
import { ForgeError, type Pull } from '../ports/forges.ts'
import type { IntegrationRecord } from '../ports/issue-trackers.ts'
import type { ForgeIntentRecord, PullRequestRecord } from '../ports/pull-request-queries.ts'
import { deleteMergedBranch } from './delete-branch.ts'
import { followIssue } from './follow-issue.ts'
import type { PullRequestDeps } from './pull-request-ground.ts'
import { saveChange } from './pull-records.ts'
import { isOpenAt } from './rules/pull-states.ts'
import { isWanted } from './write-back.ts'
import { hasIntent, markComment } from './rules/pull-text.ts'

/** Codes after which the same request would be refused again. A right that is missing may be given. */
const final: ReadonlySet<ForgeError['code']> = new Set(['not_found', 'archived', 'not_supported', 'refused'])

/** Codes after which nothing else would be taken either. */
const ofAll: ReadonlySet<ForgeError['code']> = new Set([
  'unreachable',
  'rate_limited',
  'unauthorized',
  'missing_secret',
])

/**
 * Sends what was written down by `work`, which first looks whether the forge has it: a service that was killed between
 * sending and noting finds its mark. Settles it; what the forge refuses for good is told to people. Other errors leave
 * it for later, and so does `work` that answers `later`. Throws `ForgeError`.
 */
async function sendOnce(
  { context }: PullRequestDeps,
  record: ForgeIntentRecord,
  work: () => Promise<unknown>,
): Promise<void> {
  const settle = (error: string | null) => {
    context.feed.commit((tx) => {
      const current = tx.forge_intents.get(record.id)
      // A newer wish took its place while this one was sent.
      if (!current || JSON.stringify(current.intent) !== JSON.stringify(record.intent)) return
      tx.forge_intents.put({ ...current, settled_at: tx.now(), error })
      const task = error === null ? null : tx.tasks.get(record.task_id)
      if (task) notify(context, tx, task, { event_type: 'pull_request.needs_you', body: error })
    })
  }
  try {
    if ((await work()) !== 'later') settle(null)
  } catch (error) {
    if (error instanceof ForgeError && final.has(error.code)) settle(error.message)
    throw error
  }
}

/** Answers a thread, and resolves it if the intent says so. */
export async function sendReply(
  deps: PullRequestDeps,
  connection: IntegrationRecord,
  { number }: Pick<PullRequestRecord, 'number'>,
  record: ForgeIntentRecord,
  signal: AbortSignal,
): Promise<void> {
  const { intent } = record
  if (intent.kind !== 'reply') return
  const { forges } = deps.context
  const { thread, body, resolve } = intent
  await sendOnce(deps, record, async () => {
    const threads = await forges.threads(connection, number, { signal })
    const found = threads.find(({ id }) => id === thread)
    if (!found) throw new ForgeError('not_found', 'This thread is gone.')
    // Gitea may show it in another thread of the same line once this one is resolved.
    const isThere = threads.some(({ comments }) => comments.some((comment) => hasIntent(comment.body, record.id)))
    if (!isThere) await forges.reply(connection, number, thread, markComment(body, record.id), { signal })
    if (resolve && !found.resolved) await forges.resolve(connection, number, thread, { signal })
  })
}

/** Writes a comment below an issue. */
async function sendComment(
  deps: PullRequestDeps,
  connection: IntegrationRecord,
  record: ForgeIntentRecord,
  { number, body }: { readonly number: number; readonly body: string },
  signal: AbortSignal,
): Promise<void> {
  const { forges } = deps.context
  await sendOnce(deps, record, async () => {
    const on = { kind: 'issue', number } as const
    const comments = await forges.comments(connection, on, { signal })
    if (comments.some((comment) => hasIntent(comment.body, record.id))) return
    await forges.comment(connection, on, markComment(body, record.id), { signal })
  })
}

/** Points a pull request at another branch, unless a person has chosen one since, or it is closed. */
async function sendRetarget(
  deps: PullRequestDeps,
  connection: IntegrationRecord,
  pull: PullRequestRecord,
  record: ForgeIntentRecord,
  signal: AbortSignal,
): Promise<void> {
  const { intent } = record
  if (intent.kind !== 'retarget') return
  const { forges } = deps.context
  await sendOnce(deps, record, async () => {
    const there = await forges.read(connection, pull.number, { signal })
    const isStill = isOpenAt(there) && there.target === intent.from
    const changed = isStill ? await forges.change(connection, pull.number, { target: intent.to }, { signal }) : there
    saveChange(deps, pull, changed)
  })
}

/** Closes a pull request, if it is open there. */
export async function closeThere(
  { context: { forges } }: PullRequestDeps,
  connection: IntegrationRecord,
  number: number,
  signal: AbortSignal,
): Promise<Pull> {
  const there = await forges.read(connection, number, { signal })
  return isOpenAt(there) ? await forges.change(connection, number, { state: 'closed' }, { signal }) : there
}

/** Closes the pull request of a task that was cancelled or archived; one that goes on again keeps it. */
async function sendClose(
  deps: PullRequestDeps,
  connection: IntegrationRecord,
  record: ForgeIntentRecord,
  number: number,
  signal: AbortSignal,
): Promise<void> {
  const { context, transitions } = deps
  await sendOnce(deps, record, async () => {
    const { read } = context.store
    const task = read.tasks.get(record.task_id)
    const state = task && transitions.workflowOf(read, task).states.get(task.status)
    if (!task || !(task.archived || state?.kind === 'terminal')) return
    const { task_id } = record
    saveChange(deps, { task_id, number }, await closeThere(deps, connection, number, signal))
  })
}

/** Sends one intent; those to open are carried out elsewhere. */
async function sendIntent(
  deps: PullRequestDeps,
  connection: IntegrationRecord,
  record: ForgeIntentRecord,
  signal: AbortSignal,
): Promise<void> {
  const { forges, store } = deps.context
  const { intent, task_id } = record
  const pull = store.read.pull_requests.of(task_id)
  if (intent.kind === 'reply' && pull) await sendReply(deps, connection, pull, record, signal)
  if (intent.kind === 'retarget' && pull) await sendRetarget(deps, connection, pull, record, signal)
  if (intent.kind === 'close') await sendClose(deps, connection, record, intent.number, signal)
  if (intent.kind === 'comment') await sendComment(deps, connection, record, intent, signal)
  if (intent.kind === 'close_issue') {
    await sendOnce(deps, record, async () => {
      const { state } = await forges.issue(connection, intent.number, { signal })
      if (state === 'open') await forges.closeIssue(connection, intent.number, { signal })
    })
  }
  if (intent.kind === 'delete_branch') {
    await sendOnce(deps, record, () => deleteMergedBranch(deps, connection, record, signal))
  }
  if (intent.kind === 'follow_issue') {
    await sendOnce(deps, record, () => followIssue(deps, connection, record, intent.number, signal))
  }
  if (intent.kind === 'label_issue') {
    const { number, label, on } = intent
    await sendOnce(deps, record, async () => {
      const { labels } = await forges.issue(connection, number, { signal })
      if (labels.includes(label) !== on) await forges.labelIssue(connection, number, label, on, { signal })
    })
  }
}

/**
 * Sends what waits for a task, in its order, but for what waits for a push. One that is refused holds up no other. Throws
 * the first `ForgeError`.
 */
export async function sendPending(
  deps: PullRequestDeps,
  connection: IntegrationRecord,
  task_id: TaskId,
  signal: AbortSignal,
): Promise<void> {
  let first: ForgeError | null = null
  for (const record of deps.context.store.read.forge_intents.pending(task_id)) {
    if (record.with_push || !isWanted(record, connection)) continue
    try {
      await sendIntent(deps, connection, record, signal)
    } catch (error) {
      if (!(error instanceof ForgeError) || ofAll.has(error.code)) throw error
      first ??= error
    }
  }
  if (first) throw first
}
