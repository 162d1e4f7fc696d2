import type { TaskId } from '../../src-shared/contract/ids.ts'
import { ForgeError } from '../ports/forges.ts'
import type { IntegrationRecord } from '../ports/issue-trackers.ts'
import type { ForgeIntentRecord, PullRequestRecord } from '../ports/pull-request-queries.ts'
import type { PullRequestDeps } from './pull-request-ground.ts'
import { isWanted } from './write-back.ts'
import { hasIntent, markComment } from './rules/pull-text.ts'

/** Codes after which the same request would be refused again. */
const final: ReadonlySet<ForgeError['code']> = new Set([
  'not_found',
  'archived',
  'not_supported',
  'refused',
  'forbidden',
])

/**
 * Sends what was written down, unless the forge has it: a service that was killed between sending and noting finds its
 * mark. Settles it, also if the forge refuses it for good; other errors leave it for later. Throws `ForgeError`.
 */
async function sendOnce(
  { context }: PullRequestDeps,
  record: ForgeIntentRecord,
  isThere: () => Promise<boolean>,
  send: () => Promise<unknown>,
): Promise<void> {
  const settle = (error: string | null) => {
    context.feed.commit((tx) => {
      if (tx.forge_intents.get(record.id)) tx.forge_intents.put({ ...record, settled_at: tx.now(), error })
    })
  }
  try {
    if (!(await isThere())) await send()
    settle(null)
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
  await sendOnce(
    deps,
    record,
    async () => {
      const threads = await forges.threads(connection, number, { signal })
      const found = threads.find(({ id }) => id === thread)
      if (!found) throw new ForgeError('not_found', 'This thread is gone.')
      return found.comments.some((comment) => hasIntent(comment.body, record.id))
    },
    async () => {
      await forges.reply(connection, number, thread, markComment(body, record.id), { signal })
    },
  )
  if (resolve) await forges.resolve(connection, number, thread, { signal })
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
  await sendOnce(
    deps,
    record,
    async () => {
      const comments = await forges.comments(connection, { kind: 'issue', number }, { signal })
      return comments.some((comment) => hasIntent(comment.body, record.id))
    },
    () => forges.comment(connection, { kind: 'issue', number }, markComment(body, record.id), { signal }),
  )
}

/** Sends what waits for a task, in its order, but for what waits for a push. Throws `ForgeError`. */
export async function sendPending(
  deps: PullRequestDeps,
  connection: IntegrationRecord,
  task_id: TaskId,
  signal: AbortSignal,
): Promise<void> {
  const { read } = deps.context.store
  const { forges } = deps.context
  for (const record of read.forge_intents.pending(task_id)) {
    if (record.with_push || !isWanted(record, connection)) continue
    const { intent } = record
    const pull = read.pull_requests.of(task_id)
    if (intent.kind === 'reply' && pull) await sendReply(deps, connection, pull, record, signal)
    if (intent.kind === 'comment') await sendComment(deps, connection, record, intent, signal)
    if (intent.kind === 'close_issue') {
      const isClosed = async () => (await forges.issue(connection, intent.number, { signal })).state === 'closed'
      await sendOnce(deps, record, isClosed, () => forges.closeIssue(connection, intent.number, { signal }))
    }
    if (intent.kind === 'label_issue') {
      const { number, label, on } = intent
      const isSo = async () => (await forges.issue(connection, number, { signal })).labels.includes(label) === on
      await sendOnce(deps, record, isSo, () => forges.labelIssue(connection, number, label, on, { signal }))
    }
  }
}
