import { notify } from '../core/notify.ts'
import type { Tx } from '../core/event-feed.ts'
import { isRefusal } from '../domain/refusal.ts'
import { isPerson } from '../domain/transition/audience.ts'
import { ForgeError } from '../ports/forges.ts'
import type { IntegrationRecord } from '../ports/issue-trackers.ts'
import type { PullRequestRecord } from '../ports/pull-request-queries.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { bringBaseIn } from './bring-base-in.ts'
import { isWaiting } from './is-waiting.ts'
import { hasTheirs } from './others-work.ts'
import { savePull } from './pull-records.ts'
import type { PullRequestDeps } from './pull-request-ground.ts'
import {
  decideRound,
  findingsOf,
  roundText,
  stuckChecks,
  withGiven,
  type Finding,
  type StuckCheck,
} from './rules/findings.ts'
import { isOpenAt } from './rules/pull-states.ts'

/** Does what follows from failed checks, threads, wishes and conflicts: a round of the coder's, or word to a person. */
export async function answerFindings(
  deps: PullRequestDeps,
  connection: IntegrationRecord,
  record: PullRequestRecord,
  signal: AbortSignal,
): Promise<void> {
  const { context } = deps
  const { read } = context.store
  const task = read.tasks.get(record.task_id)
  if (!task || !isOpenAt(record) || !isWaiting(deps, read, task)) return
  forgetRounds(deps, record)
  const { auto_fix } = connection.pull_requests
  const now = context.clock.now()
  await rerunStuck(deps, connection, record, stuckChecks(record, now), signal)
  const findings = findingsOf(record, auto_fix, now)
  const isFree = task.error_annotation === null && !task.entry_barrier
  const can_fix = !hasTheirs(record) ? 'no' : isFree ? 'yes' : 'later'
  const { rounds } = read.pull_requests.of(task.id) ?? record
  const decision = decideRound({ given: record.given, rounds }, findings, { auto_fix, can_fix })
  switch (decision.kind) {
    case 'nothing':
      return
    case 'tell':
      tell(deps, record, decision.findings, null)
      return
    case 'give_up':
      tell(deps, record, decision.findings, decision.why)
      return
    case 'fix':
      await beginRound(deps, connection, record, task, decision.findings, signal)
  }
}

/** Lets the forge's checks that are none of the work's doing run again, once each a head; tells of those that still don't. */
async function rerunStuck(
  deps: PullRequestDeps,
  connection: IntegrationRecord,
  record: PullRequestRecord,
  stuck: readonly StuckCheck[],
  signal: AbortSignal,
): Promise<void> {
  const { context } = deps
  const fresh = stuck.filter(({ fingerprint }) => !record.given.includes(fingerprint))
  const { auto_fix } = connection.pull_requests
  const told: Finding[] = []
  for (const check of fresh) {
    const { job, rerun_mark } = check
    const mayRerun = auto_fix.enabled && connection.can.rerun !== false && !record.given.includes(rerun_mark)
    if (job === null || !mayRerun) {
      told.push(check)
      continue
    }
    try {
      await context.forges.rerun(connection, job, { signal })
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error
      // A forge that fails is asked again at the next poll.
      if (error.code === 'unreachable' || error.code === 'rate_limited') return
      told.push(check)
    }
    mark(deps, record, [rerun_mark])
  }
  if (told.length > 0) tell(deps, record, told, null)
}

/** Gives findings to the coder. A conflict comes first: its answer is another merge, after which the rest is asked again. */
async function beginRound(
  deps: PullRequestDeps,
  connection: IntegrationRecord,
  record: PullRequestRecord,
  task: TaskRecord,
  findings: readonly Finding[],
  signal: AbortSignal,
): Promise<void> {
  const conflict = findings.filter(({ kind }) => kind === 'conflict')
  const isResolved = conflict.length > 0 && (await bringBaseIn(deps, connection, record, task, signal))
  if (isResolved) {
    noteRound(deps, record, conflict)
    return
  }
  const message = roundText(record.number, record.url, findings)
  const by = { type: 'operator' } as const
  const request = { task_id: task.id, by, triggered_by: 'system', comment_ids: [], message }
  const sent = await deps.actions.feedback(request, signal)
  if (isRefusal(sent) && sent.code === 'not_claimable') tell(deps, record, findings, sent.message)
  // A run or a step that is still under way is no reason to bother a person: the next poll finds it again.
  else if (isRefusal(sent)) deps.context.log.info({ task_id: task.id, refusal: sent }, 'a round could not begin yet')
  else noteRound(deps, record, findings)
}

/** Counts the rounds from zero if a person has moved the task since the last one. */
function forgetRounds(deps: PullRequestDeps, { task_id, rounds_since, rounds }: PullRequestRecord): void {
  const { context } = deps
  if (rounds === 0 || lastAct(context.store.read, task_id) === rounds_since) return
  context.feed.commit((tx) => {
    const current = tx.pull_requests.of(task_id)
    if (current) savePull(deps, tx, { ...current, rounds: 0 })
  })
}

const lastAct = (q: Pick<Tx, 'transitions'>, task_id: TaskRecord['id']): string | null =>
  q.transitions.byTask(task_id).findLast(({ triggered_by }) => isPerson(triggered_by))?.id ?? null

function noteRound(deps: PullRequestDeps, record: PullRequestRecord, findings: readonly Finding[]): void {
  const { context } = deps
  context.feed.commit((tx) => {
    const current = tx.pull_requests.of(record.task_id)
    if (current?.number !== record.number) return
    const rounds_since = lastAct(tx, record.task_id)
    savePull(deps, tx, {
      ...current,
      rounds: current.rounds + 1,
      rounds_since,
      given: withGiven(current.given, findings),
    })
  })
}

function mark(deps: PullRequestDeps, record: PullRequestRecord, marks: readonly string[]): void {
  const { context } = deps
  context.feed.commit((tx) => {
    const current = tx.pull_requests.of(record.task_id)
    if (current?.number === record.number) savePull(deps, tx, { ...current, given: [...current.given, ...marks] })
  })
}

/** Tells a person, once. `gave_up`: why Copse doesn't go on by itself. */
function tell(
  deps: PullRequestDeps,
  record: PullRequestRecord,
  findings: readonly Finding[],
  gave_up: string | null,
): void {
  const { context } = deps
  context.feed.commit((tx) => {
    const task = tx.tasks.get(record.task_id)
    const current = tx.pull_requests.of(record.task_id)
    if (!task || current?.number !== record.number) return
    savePull(deps, tx, { ...current, given: withGiven(current.given, findings) })
    const what = findings.map(({ title }) => title).join(', ')
    if (gave_up !== null) {
      const message = `#${record.number}: ${what}. Copse stopped fixing it: ${gave_up}`
      tx.saveTask({
        ...task,
        error_annotation: { type: 'retry_budget_exhausted', message, recovery_actions: ['fix_again'] },
      })
    }
    notify(context, tx, task, { event_type: 'pull_request.needs_you', body: `#${record.number}: ${what}` })
  })
}
