import type { ErrorAnnotation } from '../../src-shared/contract/tasks.ts'
import { notify } from '../core/notify.ts'
import type { Tx } from '../core/event-feed.ts'
import { isRefusal } from '../domain/refusal.ts'
import { hasTrait } from '../domain/workflow/graph.ts'
import type { IntegrationRecord } from '../ports/issue-trackers.ts'
import type { PullRequestRecord } from '../ports/pull-request-queries.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { autoMerge } from './auto-merge.ts'
import { followMerge } from './follow-merge.ts'
import { hasTheirs, takeOthersWork } from './others-work.ts'
import { followStack } from './follow-stack.ts'
import { savePull } from './pull-records.ts'
import type { PullRequestDeps } from './pull-request-ground.ts'
import { decideRound, findingsOf, roundText, withGiven, type Finding } from './rules/findings.ts'
import { isOpenAt } from './rules/pull-states.ts'

/** Does what follows from what the forge told last. Safe to repeat: what was done is seen from the task. */
export async function reactToPull(
  deps: PullRequestDeps,
  connection: IntegrationRecord,
  task_id: TaskRecord['id'],
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
    if (current && (await autoMerge(deps, connection, current, signal))) {
      await reactToPull(deps, connection, task_id, signal)
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

/** Returns whether the task stands where it waits for its pull request. */
export function isWaiting(
  { transitions }: Pick<PullRequestDeps, 'transitions'>,
  q: Pick<Tx, 'projects'>,
  task: TaskRecord,
): boolean {
  const workflow = transitions.workflowOf(q, task)
  const state = workflow.states.get(task.status)
  return state !== undefined && hasTrait(workflow, state, 'awaits_pull_request')
}

function isAtGate(deps: PullRequestDeps, { task_id }: PullRequestRecord): boolean {
  const { read } = deps.context.store
  const task = read.tasks.get(task_id)
  return task !== null && isWaiting(deps, read, task)
}

async function answerFindings(
  deps: PullRequestDeps,
  connection: IntegrationRecord,
  record: PullRequestRecord,
  signal: AbortSignal,
): Promise<void> {
  const { context } = deps
  const { read } = context.store
  const task = read.tasks.get(record.task_id)
  if (!task || !isOpenAt(record) || !isWaiting(deps, read, task)) return
  const { auto_fix } = connection.pull_requests
  const findings = findingsOf(record, auto_fix)
  const isFree = task.error_annotation === null && !task.entry_barrier
  const can_fix = !hasTheirs(record) ? 'no' : isFree ? 'yes' : 'later'
  const decision = decideRound(record, findings, { auto_fix, can_fix })
  switch (decision.kind) {
    case 'nothing':
      return
    case 'tell':
      tell(deps, record, decision.findings, null)
      return
    case 'give_up':
      tell(deps, record, decision.findings, decision.why)
      return
    case 'fix': {
      const message = roundText(record.number, record.url, decision.findings)
      const by = { type: 'operator' } as const
      const request = { task_id: task.id, by, triggered_by: 'system', comment_ids: [], message }
      const sent = await deps.actions.feedback(request, signal)
      if (isRefusal(sent) && sent.code === 'not_claimable') tell(deps, record, decision.findings, sent.message)
      // A run or a step that is still under way is no reason to bother a person: the next poll finds it again.
      else if (isRefusal(sent)) context.log.info({ task_id: task.id, refusal: sent }, 'a round could not begin yet')
      else noteRound(deps, record, decision.findings)
    }
  }
}

function noteRound({ context }: PullRequestDeps, record: PullRequestRecord, findings: readonly Finding[]): void {
  context.feed.commit((tx) => {
    const current = tx.pull_requests.of(record.task_id)
    if (current?.number !== record.number) return
    savePull(tx, { ...current, rounds: current.rounds + 1, given: withGiven(current.given, findings) })
  })
}

/** Tells a person, once. `gave_up`: why Copse doesn't go on by itself. */
function tell(
  { context }: PullRequestDeps,
  record: PullRequestRecord,
  findings: readonly Finding[],
  gave_up: string | null,
): void {
  context.feed.commit((tx) => {
    const task = tx.tasks.get(record.task_id)
    const current = tx.pull_requests.of(record.task_id)
    if (!task || current?.number !== record.number) return
    savePull(tx, { ...current, given: withGiven(current.given, findings) })
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
