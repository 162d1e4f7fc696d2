import type { ExecutionId, TaskId } from '../../src-shared/contract/ids.ts'
import type { ErrorAnnotation } from '../../src-shared/contract/tasks.ts'
import { clearAnnotation } from '../tasks/rules/clear-annotation.ts'
import { interpretOutcome, type InterpretedOutcome } from './rules/interpret-outcome.ts'
import type { ReachedLimit } from './rules/limits.ts'
import { isRefusal } from '../domain/refusal.ts'
import { forwardOf, roleOf } from '../domain/workflow/graph.ts'
import { agentActivity, type AgentActivity } from './agent-activity.ts'
import { blockTask, resetRequired } from '../transitions/block-task.ts'
import type { RunGround } from './run-ground.ts'
import type { Tx } from '../core/event-feed.ts'
import { enqueueWorkStopped, doesStateWork } from '../transitions/enqueue-hooks.ts'
import { holdsMessages, isMessage, nextMessage } from './messages.ts'
import { noteChanges, unmarkSent, type FoundChange } from '../core/comment-records.ts'
import { belongsToCurrentState } from '../core/execution-records.ts'
import type { ExecutionOutcome } from '../ports/executors.ts'
import type { ExecutionRecord } from '../ports/execution-queries.ts'
import type { RunFindings, TaskRecord } from '../ports/task-queries.ts'
import type { Transitions } from '../transitions/transitions.ts'
import { notify } from '../core/notify.ts'
import { noteAccount } from './accounts.ts'
import { enqueueExecution } from './enqueue-execution.ts'
import { unaskedNotes } from './unasked-notes.ts'
import { saveFinished } from '../core/execution-records.ts'
import { workspaceOf } from '../core/workspace-of.ts'
import { findRepositoryChanges, noteRepositoryChanges, noteRunFindings } from '../workspaces/repository-changes.ts'
import { findRunFindings } from '../workspaces/work-elsewhere.ts'
import { findCommentedChanges } from '../workspaces/commented-lines.ts'
import type { Worktrees } from '../workspaces/worktrees.ts'
import { redactorOf } from '../core/redactor-of.ts'
import { toSettings } from '../core/views.ts'

export type StopReason = 'stopped' | 'cancelled'

export interface SettleDeps {
  readonly context: RunGround
  readonly transitions: Transitions
  readonly worktrees: Worktrees
  /** Called when a task has new pending steps. */
  readonly wake: (task_id: TaskId) => void
}

export interface ExecutionEnd {
  readonly outcome: ExecutionOutcome
  /** Why it was stopped; null if it ended without a stop. */
  readonly stopped: StopReason | null
  /** The limit that ended the execution. */
  readonly limit?: ReachedLimit | null
  /** Seconds without activity after which the execution was stopped. */
  readonly stalled?: number | null
  /** Its worktree and branch no longer exist. */
  readonly workspace_gone?: boolean
}

/**
 * Saves the end of an execution and, in the same transaction, its consequences. If an end is reported several times,
 * the first report counts.
 */
export async function completeExecution(deps: SettleDeps, id: ExecutionId, end: ExecutionEnd): Promise<void> {
  const { context } = deps
  const before = context.store.read.executions.get(id)
  if (!before || !isOpen(before)) return
  const outcome = { ...end.outcome, message: redactFor(context, before, end.outcome.message) }
  // Revoke the token first: measuring may take a while.
  await context.writes.untilWritten(() => context.agentTokens.revoke(id))
  // Work that is taken from elsewhere is part of what is measured.
  const left = await findRunFindings(deps, before)
  const [measured, repository, lines] = await Promise.all([
    measure(deps, before),
    findRepositoryChanges(context, before),
    findCommentedChanges(deps, before),
  ])
  await context.writes.untilWritten(() => {
    context.feed.commit((tx) => writeEnd(deps, tx, id, end, { ...measured, outcome, repository, left, lines }))
  })
  deps.wake(before.task_id)
}

/** Saves the end of an execution with its consequences; does nothing if it has already ended. */
function writeEnd(
  deps: SettleDeps,
  tx: Tx,
  id: ExecutionId,
  end: ExecutionEnd,
  found: Awaited<ReturnType<typeof measure>> & {
    readonly outcome: ExecutionOutcome
    readonly repository: Awaited<ReturnType<typeof findRepositoryChanges>>
    readonly left: RunFindings
    readonly lines: readonly FoundChange[]
  },
): void {
  const { changed, diff_stat, outcome } = found
  const current = tx.executions.get(id)
  if (!current || !isOpen(current)) return
  const session_id = outcome.session_id ?? current.session_id
  const deed = agentActivity(tx, current)
  const agent = current.agent_id === null ? null : tx.agents.get(current.agent_id)
  const limited = end.stopped === null ? noteAccount(deps.context, tx, agent, outcome) : null
  const concluded = interpretOutcome({
    outcome: { ...outcome, conclusion: conclusionOf(outcome, deed) },
    stopped: end.stopped,
    limit: end.limit ?? null,
    usage_limit: limited,
    stalled: end.stalled ?? null,
    changed,
    owes_work: owesWork(deps, tx, current, diff_stat),
    has_session: session_id !== null,
  })
  const conclusion = isMessage(current) ? withdraw(tx, current, concluded) : concluded
  const record = saveFinished(tx, {
    ...current,
    status: conclusion.status,
    exit_code: outcome.exit_code,
    session_id,
    usage: outcome.usage ?? current.usage,
    // It was compared, and holds every ref of the repository.
    repository_state: null,
    error: conclusion.error,
    summary: outcome.ended === 'exited' && outcome.exit_code === 0 ? outcome.message : null,
  })
  const known = tx.tasks.get(record.task_id)
  if (!known) return
  const unasked = unaskedNotes(outcome.unasked, redactorOf(deps.context, tx, record.project_id))
  const left = { ...found.left, notes: [...found.left.notes, ...unasked] }
  const task = noteRunFindings(tx, noteRepositoryChanges(tx, known, found.repository), left)
  noteChanges(tx, task, record, found.lines)
  const settled: TaskRecord = {
    ...task,
    diff_stat: diff_stat ?? task.diff_stat,
    active_execution_id: task.active_execution_id === id ? null : task.active_execution_id,
  }
  const workflow = deps.transitions.workflowOf(tx, task)
  const worked = record.started_at !== null && doesStateWork(tx, workflow, task, record)
  if (end.workspace_gone && isRoleActive(deps, tx, settled, record)) blockTask(deps, tx, settled, resetRequired)
  else applyOutcome(deps, tx, settled, record, { conclusion, deed })
  const after = tx.tasks.get(task.id)
  if (after && isFailedForGood(tx, after, record)) {
    notify(deps.context, tx, after, { event_type: 'execution.failed', body: after.error_annotation?.message ?? null })
  }
  if (worked && after)
    enqueueWorkStopped(tx, workflow, after, { execution: record, from: task.status, triggered_by: 'system' })
}

/** Returns whether a run failed, and the task says so: nothing was queued to follow it, and no one stopped it. */
function isFailedForGood(tx: Tx, task: TaskRecord, { id, status }: ExecutionRecord): boolean {
  const annotation = task.error_annotation
  const isTold = annotation?.execution_id === id && annotation.retry_at === undefined
  return (status === 'failed' || status === 'lost') && isTold && tx.executions.openOfTask(task.id).length === 0
}

/** An agent that moved the task or gave a verdict is done. One that commented counts as having produced output. */
function conclusionOf(outcome: ExecutionOutcome, deed: AgentActivity): ExecutionOutcome['conclusion'] {
  if (deed === 'completed') return 'done'
  const isQuiet = outcome.conclusion === 'silent' || outcome.conclusion === 'talked'
  return deed === 'commented' && isQuiet ? 'done' : outcome.conclusion
}

/** Returns whether the run should have changed something but its branch has no change at all. */
function owesWork(deps: SettleDeps, tx: Tx, { task_id }: ExecutionRecord, diff_stat: TaskRecord['diff_stat']): boolean {
  const task = tx.tasks.get(task_id)
  const state = task && deps.transitions.workflowOf(tx, task).states.get(task.status)
  return state?.kind === 'active' && diff_stat !== null && diff_stat.files === 0
}

function isOpen(record: ExecutionRecord): boolean {
  return record.status === 'running' || record.status === 'queued'
}

/** The agent's last message may contain a secret that it has read. */
function redactFor(context: RunGround, record: ExecutionRecord, text: string | null): string | null {
  if (text === null) return null
  return redactorOf(context, context.store.read, record.project_id)(text)
}

/**
 * Returns whether the task still waits for this role. An agent that moved its task may finish its turn, but the result
 * of that no longer affects the task.
 */
function isRoleActive(deps: SettleDeps, tx: Tx, task: TaskRecord, record: ExecutionRecord): boolean {
  const state = deps.transitions.workflowOf(tx, task).states.get(task.status)
  return state !== undefined && roleOf(state) === record.role && belongsToCurrentState(tx, record)
}

/**
 * Applies the outcome to the task: if the coder is done, it moves forward; otherwise it stays, annotated with the
 * reason.
 */
function applyOutcome(
  deps: SettleDeps,
  tx: Tx,
  task: TaskRecord,
  record: ExecutionRecord,
  { conclusion, deed }: { readonly conclusion: InterpretedOutcome; readonly deed: AgentActivity },
): void {
  const workflow = deps.transitions.workflowOf(tx, task)
  const state = workflow.states.get(task.status)
  const isItsTurn = isRoleActive(deps, tx, task, record)
  const next = state && forwardOf(workflow, state)
  // A message that a person wrote during the run comes first.
  const message = isItsTurn && !holdsMessages(conclusion.annotation) && nextMessage(tx, task.id, record.role)
  if (message) {
    const left = clearAnnotation(task.error_annotation, 'run', tx.effects.first(task.id) !== null)
    tx.saveTask({ ...task, active_execution_id: message.id, error_annotation: noteOf(conclusion, record) ?? left })
    return
  }
  if (conclusion.status === 'succeeded' && isItsTurn && state?.kind === 'active' && next) {
    const moved = deps.transitions.apply(tx, task, {
      to: next.name,
      cause: 'forward',
      triggered_by: 'system',
      version: null,
      reason: null,
    })
    if (!isRefusal(moved)) return
    tx.saveTask({
      ...task,
      error_annotation: annotate('execution_incomplete', moved.message, record.id, ['retry_execution']),
    })
    return
  }
  const openGate = isItsTurn && state?.kind === 'gate' && tx.reviews.latest(task.id)?.status === 'running'
  // A review that its agent passed may still need a person.
  if (conclusion.status === 'succeeded' && openGate && !task.entry_barrier && deed !== 'completed') {
    const text = 'The reviewer ended without a decision. Decide yourself, or restart the reviewer.'
    tx.saveTask({
      ...task,
      error_annotation: annotate('execution_incomplete', text, record.id, ['retry_execution']),
    })
    return
  }
  const retry = isItsTurn ? retryOf(deps, tx, record, conclusion) : null
  if (retry !== null) {
    queueAgain(deps, tx, task, record, retry)
    return
  }
  const error_annotation = isItsTurn ? (noteOf(conclusion, record) ?? task.error_annotation) : task.error_annotation
  tx.saveTask({ ...task, error_annotation })
}

interface Retry {
  readonly at: string
  readonly stalls: number
  readonly conclusion: InterpretedOutcome
}

/** Returns when a run is retried automatically: when its provider's limit resets, or after it stalled. */
function retryOf(
  { context }: SettleDeps,
  tx: Tx,
  record: ExecutionRecord,
  conclusion: InterpretedOutcome,
): Retry | null {
  const { annotation } = conclusion
  const stalls = record.overrides.stalls ?? 0
  if (annotation?.type === 'usage_limit')
    return annotation.retry_at === undefined ? null : { at: annotation.retry_at, stalls, conclusion }
  const project = tx.projects.get(record.project_id)
  if (annotation?.reason !== 'stalled' || !project || stalls >= toSettings(project).stall_retries) return null
  const pauseMs = Math.min(maxStallPauseMs, firstStallPauseMs * 2 ** stalls)
  const at = new Date(context.clock.now() + pauseMs).toISOString()
  const retried = { ...annotation, recovery_actions: [], retry_at: at }
  return { at, stalls: stalls + 1, conclusion: { ...conclusion, annotation: retried } }
}

const firstStallPauseMs = 10_000
const maxStallPauseMs = 5 * 60_000

/** Queues the next execution, in the same session, with the time at which it may start. */
function queueAgain(
  { context }: SettleDeps,
  tx: Tx,
  task: TaskRecord,
  record: ExecutionRecord,
  { at: retry_at, stalls, conclusion }: Retry,
): void {
  const assignee = task.roles[record.role]
  if (!assignee) return
  const { message: _said, stalls: _before, ...overrides } = record.overrides
  const again = enqueueExecution(context, tx, {
    task,
    role: record.role,
    assignee,
    overrides: { ...overrides, ...(stalls > 0 && { stalls }) },
    resume: true,
    dispatched: true,
    retry_at,
  })
  tx.saveTask({ ...task, active_execution_id: again.id, error_annotation: noteOf(conclusion, record) })
}

function noteOf({ annotation }: InterpretedOutcome, { id }: ExecutionRecord): ErrorAnnotation | null {
  return annotation && { ...annotation, recovery_actions: [...annotation.recovery_actions], execution_id: id }
}

/**
 * A message that ends before it started was withdrawn, so its comments are reopened. The task is annotated only if it
 * has no other execution now.
 */
function withdraw(tx: Tx, record: ExecutionRecord, concluded: InterpretedOutcome): InterpretedOutcome {
  if (concluded.status !== 'stopped' && concluded.status !== 'cancelled') return concluded
  const { task_id: id, project_id, overrides } = record
  unmarkSent(tx, { id, project_id }, overrides.message?.comment_ids ?? [])
  const others = tx.executions.openOfTask(id).some((one) => one.id !== record.id)
  const rests = !others && tx.tasks.get(id)?.error_annotation === null
  return { status: 'cancelled', error: null, annotation: rests ? concluded.annotation : null }
}

function annotate(
  type: ErrorAnnotation['type'],
  message: string,
  execution_id: ExecutionId,
  recovery_actions: ErrorAnnotation['recovery_actions'],
): ErrorAnnotation {
  return { type, message, recovery_actions, execution_id, reason: 'nothing_done' }
}

/** Measures whether the run changed the worktree, and how large the branch's diff is now. */
async function measure(deps: SettleDeps, record: ExecutionRecord) {
  const { context, worktrees } = deps
  const task = context.store.read.tasks.get(record.task_id)
  const workspace = task && workspaceOf(context.store.read, task)
  if (!workspace || record.start_commit === null) return { changed: true, diff_stat: null }
  const ref = await worktrees.ref(workspace)
  const { path } = ref
  if (path === null) return { changed: true, diff_stat: null }
  const signal = AbortSignal.timeout(60_000)
  try {
    const [status, diff_stat] = await Promise.all([
      context.places.of(record.task_id).worktrees.status({ ...ref, path }, { signal }),
      context.places.of(record.task_id).diffs.diffStat(ref, { signal }),
    ])
    return { changed: status.dirty || status.head !== record.start_commit, diff_stat }
  } catch (error) {
    context.log.warn({ err: error, task_id: record.task_id }, 'a worktree could not be measured')
    return { changed: true, diff_stat: null }
  }
}
