import type { Refusal } from '../../src-shared/contract/errors.ts'
import { nowIso } from '../core/ground.ts'
import { redactorOf } from '../core/redactor-of.ts'
import { refOf } from '../core/views.ts'
import { isRefusal, notFound } from '../domain/refusal.ts'
import { bindBeforeSending } from '../integrations/secret-bindings.ts'
import type { ForgeBranch, ForgeRepository, Pull } from '../ports/forges.ts'
import { ForgeError } from '../ports/forges.ts'
import type { IntegrationRecord } from '../ports/issue-trackers.ts'
import type { ForgeIntent, ForgeIntentRecord, PullRequestRecord } from '../ports/pull-request-queries.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { closedRefusal, writingConnectionOf } from './connection.ts'
import { refusalOf } from './forge-errors.ts'
import { newPullRecord, savePull, fieldsOf } from './pull-records.ts'
import { issueOf } from './issue-of.ts'
import type { PullRequestDeps } from './pull-request-ground.ts'
import { pushWork } from './push-work.ts'
import { chooseTarget, noteTarget } from './stacked-pull.ts'
import { isOpenAt } from './rules/pull-states.ts'
import { isOfTask, newBody, pullBlock, pullTitle, replaceBlock, type PullTextFacts } from './rules/pull-text.ts'
import { isTransient } from './rules/transient.ts'
import { workToPush, type WorkToPush } from './work-to-push.ts'

export interface OpenWish {
  readonly draft: boolean | null
  readonly title: string | null
  readonly body: string | null
  /** A commit of others on the branch at the forge that a person lets the work replace. */
  readonly replaces?: string
}

export interface OpenedPull {
  readonly record: PullRequestRecord
  readonly created: boolean
}

/**
 * Pushes a task's judged work and opens its pull request, or updates the open one. The wish is written down first, and
 * what it would make is looked for at the forge before it is made, so that a killed service makes no second one.
 */
export async function openPull(
  deps: PullRequestDeps,
  task_id: TaskRecord['id'],
  wish: OpenWish,
  triggered_by: string,
  signal: AbortSignal,
): Promise<OpenedPull | Refusal> {
  const { context } = deps
  const { read } = context.store
  const task = read.tasks.get(task_id)
  if (!task) return notFound('task')
  const connection = writingConnectionOf(read, task)
  if (isRefusal(connection)) return connection
  const known = read.pull_requests.of(task_id)
  const closed = known && closedRefusal(known)
  if (closed) return closed
  const work = await workToPush(deps, task, signal)
  if (isRefusal(work)) return work
  const target = await chooseTarget(deps, task, connection, known, signal)
  if (isRefusal(target)) return target
  const record = writeDown(deps, task, wish, triggered_by)
  const opening = { deps, task, connection, work, target: target.branch, wish, signal }
  const opened = await perform(opening).catch((error: unknown) => {
    // What broke here is told to the caller, and not tried again behind their back.
    if (!signal.aborted) settle(deps, record, error instanceof Error ? error.message : String(error))
    throw error
  })
  // What may be over by itself stays written down, and is tried again.
  if (!isRefusal(opened) || !isTransient(opened)) settle(deps, record, isRefusal(opened) ? opened.message : null)
  return opened
}

/** Records the wish, in the place of one that was not carried out. */
export function writeDown(
  { context }: PullRequestDeps,
  { id, project_id }: TaskRecord,
  wish: OpenWish,
  triggered_by: string,
): ForgeIntentRecord {
  return context.feed.commit((tx) => {
    const { draft, title, body } = wish
    const intent: ForgeIntent = { kind: 'open', draft, title, body }
    const left = tx.forge_intents.pending(id).find((one) => one.intent.kind === 'open')
    const fresh = { id: context.newId(), task_id: id, project_id, key: null, created_at: tx.now() }
    const open = { with_push: false, settled_at: null, error: null }
    const record: ForgeIntentRecord = { ...(left ?? fresh), ...open, intent, triggered_by }
    tx.forge_intents.put(record)
    return record
  })
}

function settle({ context }: PullRequestDeps, record: ForgeIntentRecord, error: string | null): void {
  context.feed.commit((tx) => {
    // A task that was deleted since took its intents along.
    if (tx.forge_intents.get(record.id) !== null) tx.forge_intents.put({ ...record, settled_at: tx.now(), error })
  })
}

interface Opening {
  readonly deps: PullRequestDeps
  readonly task: TaskRecord
  readonly connection: IntegrationRecord
  readonly work: WorkToPush
  readonly target: string
  readonly wish: OpenWish
  readonly signal: AbortSignal
}

async function perform(opening: Opening): Promise<OpenedPull | Refusal> {
  const { deps, task, connection, work, signal } = opening
  const { context } = deps
  const { forges } = context
  try {
    bindBeforeSending(context, connection)
    const repository = await forges.repository(connection, { signal })
    if (repository.archived)
      throw new ForgeError('archived', `${repository.full_name} is archived, so it is read-only.`)
    const fork = connection.pull_requests.fork
    const head: ForgeBranch = { repository: fork ?? repository.full_name, branch: work.ref.branch }
    const known = context.store.read.pull_requests.of(task.id)
    const replaces = opening.wish.replaces ?? null
    const pushed = await pushWork(deps, { connection, repository, work, known, replaces }, signal)
    if (isRefusal(pushed)) return pushed
    const found = known === null ? await findOpen(opening, head) : null
    const pull = known === null ? found : await forges.read(connection, known.number, { signal })
    const closed = known !== null && pull !== null ? noteClosed(opening, known, pull) : null
    if (closed) return closed
    const ended = pull === null ? null : await update(opening, pull)
    const opened = ended ?? (await open(opening, repository, head))
    // A person's own one for this branch goes where they want it.
    const is_ours = known === null && isOfTask(opened.body, task.id)
    return { record: save(opening, opened, { ...head, pushed: work.commit, is_ours }), created: ended === null }
  } catch (error) {
    return refusalOf(error)
  }
}

/** Saves that a person closed or merged it, and refuses. */
function noteClosed({ deps }: Opening, known: PullRequestRecord, pull: Pull): Refusal | null {
  if (isOpenAt(pull)) return null
  const saved = deps.context.feed.commit((tx) =>
    savePull(deps, tx, { ...known, ...fieldsOf(pull), next_poll_at: tx.now() }),
  )
  return closedRefusal(saved)
}

/** Finds the pull request that an earlier try opened before it was killed, or a person opened for this branch. */
async function findOpen({ deps, task, connection, signal }: Opening, head: ForgeBranch): Promise<Pull | null> {
  const all = await deps.context.forges.find(connection, head, { signal })
  const live = all.filter(isOpenAt)
  return live.find(({ body }) => isOfTask(body, task.id)) ?? live[0] ?? null
}

/** Replaces Copse's block and, where asked for, the title and the draft state. */
async function update({ deps, task, connection, wish, work, signal }: Opening, pull: Pull): Promise<Pull> {
  const facts = textFacts(deps, task, connection, work)
  const block = wish.body ?? pullBlock(connection.pull_requests.body, facts)
  const body = replaceBlock(pull.body, task.id, block)
  const change = {
    ...(wish.title !== null && wish.title !== pull.title && { title: pullTitle(wish.title, facts) }),
    ...(body !== null && body !== pull.body && { body }),
    ...(wish.draft !== null && wish.draft !== (pull.state === 'draft') && { draft: wish.draft }),
  }
  if (Object.keys(change).length === 0) return pull
  return await deps.context.forges.change(connection, pull.number, change, { signal })
}

async function open(
  { deps, task, connection, target, wish, work, signal }: Opening,
  repository: ForgeRepository,
  head: ForgeBranch,
): Promise<Pull> {
  const { draft, labels, reviewers, title, body } = connection.pull_requests
  const facts = textFacts(deps, task, connection, work)
  const pull = {
    title: pullTitle(wish.title ?? title, facts),
    body: newBody(task.id, wish.body ?? pullBlock(body, facts)),
    head,
    target,
    draft: wish.draft ?? draft,
    labels,
    reviewers,
  }
  try {
    return await deps.context.forges.open(connection, pull, { signal })
  } catch (error) {
    // What a killed try opened may be shown a moment later than it is refused.
    const is_taken = error instanceof ForgeError && error.code === 'refused'
    const [found] = is_taken ? (await deps.context.forges.find(connection, head, { signal })).filter(isOpenAt) : []
    if (found) return found
    throw error instanceof ForgeError && error.code === 'not_found'
      ? new ForgeError('not_found', `${repository.full_name} has no branch ${pull.target}, or the token can't see it.`)
      : error
  }
}

function textFacts(
  { context }: PullRequestDeps,
  task: TaskRecord,
  connection: IntegrationRecord,
  { checks }: WorkToPush,
): PullTextFacts {
  const { read } = context.store
  const redact = redactorOf(context, read, task.project_id)
  const number = issueOf(read, connection, task)
  const last = read.executions.byTask(task.id).findLast(({ status }) => status === 'succeeded')
  return {
    title: redact(task.title),
    description: redact(task.description ?? ''),
    summary: redact(last?.summary ?? ''),
    checks: checks.map(redact),
    issue: number === null ? null : { number, closes: connection.write_back.close },
    task: { id: task.id, ref: refOf(read, task) },
  }
}

function save(
  { deps, task }: Opening,
  pull: Pull,
  { pushed, is_ours, ...head }: ForgeBranch & { readonly pushed: string; readonly is_ours: boolean },
): PullRequestRecord {
  const { context } = deps
  return context.feed.commit((tx) => {
    const known = tx.pull_requests.of(task.id)
    if (is_ours) noteTarget(deps, tx, task, { from: pull.target, to: pull.target, is_there: true })
    const record = known ?? newPullRecord(nowIso(context), task, pull, { ...head, pushed })
    // The forge may not have noticed the push yet; it is asked again at once.
    return savePull(deps, tx, {
      ...record,
      ...fieldsOf(pull),
      head: pushed,
      pushed,
      next_poll_at: tx.now(),
      last_error: null,
    })
  })
}
