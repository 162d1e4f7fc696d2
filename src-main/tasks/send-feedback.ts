import { BugError } from '../../src-shared/lang/bug-error.ts'
import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { ExecutionId } from '../../src-shared/contract/ids.ts'
import { clearAnnotation } from './rules/clear-annotation.ts'
import { isRefusal } from '../domain/refusal.ts'
import { runMoveGuards } from './before-exit.ts'
import { authorityRefusal } from '../core/authority.ts'
import type { Tx } from '../core/event-feed.ts'
import { isAtGate, planFollowUp, type FeedbackRequest, type FollowUpPlan } from './plan-follow-up.ts'
import { emitMessageUpdated, isMessage, nextMessage } from '../executions/messages.ts'
import { markSent } from '../core/comment-records.ts'
import { enqueueExecution } from '../executions/enqueue-execution.ts'
import type { StepServices } from '../steps/step-services.ts'
import { commitDecision, decide, findOut } from './decision.ts'
import { noWork, verdictDecision, type VerdictFindings, type VerdictRequest } from './give-verdict.ts'
import type { ExecutionRecord } from '../ports/execution-queries.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { WorkspaceError } from '../ports/workspace-error.ts'
import { lookAtWork } from '../workspaces/look-at-work.ts'

export interface FollowUp {
  readonly execution_id: ExecutionId
  /** The task moved back to its working state, so the pending steps of the old state are superseded. */
  readonly moved: boolean
}

/**
 * Sends comments and a message back to the holder of the working role: in one transaction the task moves back there if
 * it has left, a follow-up execution is queued with the prompt, and the comments are marked as sent. They stay open until
 * someone resolves them. While the holder has a run, the follow-up waits for its end. A refusal has changed nothing.
 */
export async function sendFeedback(
  deps: StepServices,
  request: FeedbackRequest,
  signal: AbortSignal,
): Promise<FollowUp | Refusal> {
  return await decide<FollowUpPlan, FeedbackFindings, FollowUp>(deps.context, {
    plan: (q, findings) => {
      const plan = planFollowUp(deps, q, request)
      if (isRefusal(plan) || findings === null) return plan
      return plan.task.version === findings.version ? plan : changedMeanwhile
    },
    ask: async (plan) => {
      const findings = await runFeedbackGuards(deps, plan, request, signal)
      if (isRefusal(findings)) return findings
      return { ...findings, version: plan.task.version, tree: await treeNow(deps, plan, signal) }
    },
    commit: (tx, plan, findings) => commitFollowUp({ deps, request, signal }, tx, plan, findings),
  })
}

interface FeedbackFindings extends VerdictFindings {
  /** The task version that the guards were run for. */
  readonly version: number
  /** The tree that comments on lines are about. */
  readonly tree: string | null
}

const changedMeanwhile: Refusal = {
  code: 'version_conflict',
  message: 'This task changed while its hooks ran. Reload it, then send the feedback again.',
}

/** Runs the guards of a move away: the gate's own rules, and the hooks of the state that is left. */
async function runFeedbackGuards(
  deps: StepServices,
  { task, target, sent, moves }: FollowUpPlan,
  request: FeedbackRequest,
  signal: AbortSignal,
): Promise<VerdictFindings | Refusal> {
  if (!moves) return { work: noWork, merged: null, checked: [], seen: null }
  const { read } = deps.context.store
  if (isAtGate(deps, read, task))
    return await findOut(read, verdictDecision(deps, verdictOf(request, sent.text), signal))
  const move = { to: target.name, cause: 'reject', triggered_by: request.triggered_by, version: null } as const
  const checked = await runMoveGuards(deps, task, move, signal)
  return isRefusal(checked) ? checked : { work: noWork, merged: null, checked: checked.hooks, seen: null }
}

/** What a call of `sendFeedback` has throughout. */
interface FeedbackCall {
  readonly deps: StepServices
  readonly request: FeedbackRequest
  readonly signal: AbortSignal
}

function commitFollowUp(
  call: FeedbackCall,
  tx: Tx,
  plan: FollowUpPlan,
  findings: FeedbackFindings,
): FollowUp | Refusal {
  const { deps } = call
  const { task, role, assignee, sent, moves, waits } = plan
  const agent = assignee.type === 'agent' ? tx.agents.get(assignee.id) : null
  // After a move, the dispatch of the entry asks.
  const held = moves ? null : authorityRefusal(deps.context, task, agent)
  if (held) return held
  const current = moves ? sendBack(call, tx, plan, findings) : task
  if (isRefusal(current)) return current
  // A message that keeps the state cancels a move that its hooks have held up: there is new work to do.
  if (!moves && !waits) tx.effects.removeOfTask(task.id)
  const message = { text: sent.text, comment_ids: sent.comments.map((one) => one.id) }
  const execution_id = deps.context.newId() as ExecutionId
  // Mark them now, so that the prompt does not contain them twice.
  markSent(tx, task, message.comment_ids, { execution_id, tree: findings.tree })
  const execution = enqueueExecution(deps.context, tx, {
    id: execution_id,
    task: current,
    role,
    assignee,
    // feedbackFor() adds the feedback of a rejection to the prompt, so no override is needed.
    overrides: moves ? {} : { message },
    resume: true,
    // After a move, the dispatch of the entry lets it start.
    dispatched: !moves,
  })
  // A message to an agent without a run starts one, with the oldest waiting message first.
  const rests = tx.executions.openOfTask(task.id).every(isMessage)
  if (moves || rests) activateExecution(deps, tx, current, (rests && nextMessage(tx, task.id, role)) || execution)
  if (!moves) emitMessageUpdated(tx, execution)
  return { execution_id: execution.id, moved: moves }
}

/** Reads the tree that the lines are compared with later. If that fails, the feedback is sent anyway. */
async function treeNow(deps: StepServices, { task, sent }: FollowUpPlan, signal: AbortSignal): Promise<string | null> {
  if (sent.comments.every(({ anchor }) => anchor === null)) return null
  try {
    return (await lookAtWork(deps, task, { seen: null }, signal)).work?.tree ?? null
  } catch (error) {
    if (!(error instanceof WorkspaceError) || signal.aborted) throw error
    return null
  }
}

/** Moves the task back as a person's rejection: at a gate, or from a later state by the same transition. */
function sendBack(
  { deps, request, signal }: FeedbackCall,
  tx: Tx,
  { task, target, sent }: FollowUpPlan,
  findings: VerdictFindings,
): TaskRecord | Refusal {
  const { triggered_by } = request
  const { checked } = findings
  if (!isAtGate(deps, tx, task)) {
    const back = { to: target.name, cause: 'reject', triggered_by, version: null, reason: sent.text, checked } as const
    const moved = deps.transitions.apply(tx, task, back)
    return isRefusal(moved) ? moved : moved.task
  }
  const given = commitDecision(tx, verdictDecision(deps, verdictOf(request, sent.text), signal), findings)
  if (isRefusal(given)) return given
  const judged = tx.tasks.get(task.id)
  if (judged?.status !== target.name) throw new BugError(`Feedback did not take task ${task.id} to ${target.name}.`)
  return judged
}

function verdictOf({ task_id, by, triggered_by }: FeedbackRequest, feedback: string): VerdictRequest {
  return { task_id, verdict: 'fail', feedback, comment_ids: [], version: null, tree: null, by, triggered_by }
}

function activateExecution(deps: StepServices, tx: Tx, task: TaskRecord, execution: ExecutionRecord): void {
  const last_human_action_id = deps.context.newId()
  const error_annotation = clearAnnotation(task.error_annotation, 'run', tx.effects.first(task.id) !== null)
  tx.saveTask({ ...task, active_execution_id: execution.id, error_annotation, last_human_action_id })
}
