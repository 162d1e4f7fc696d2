import { BugError } from '../../src-shared/lang/bug-error.ts'
import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { ExecutionId, TaskId } from '../../src-shared/contract/ids.ts'
import type { Assignee } from '../../src-shared/contract/tasks.ts'
import type { WorkflowState } from '../../src-shared/contract/workflow-definition.ts'
import { followUpState } from '../domain/task/follow-up-state.ts'
import { clearAnnotation } from '../domain/task/clear-annotation.ts'
import { isRefusal, notFound } from '../domain/refusal.ts'
import { isReviewGate, roleOf, type Workflow } from '../domain/workflow/graph.ts'
import { runMoveGuards } from './before-exit.ts'
import { authorityRefusal } from '../core/authority.ts'
import type { Tx } from '../core/event-feed.ts'
import { collectFeedback, type FeedbackInput, type CollectedFeedback } from './collect-feedback.ts'
import { emitMessageUpdated, isMessage, nextMessage } from '../executions/messages.ts'
import { markSent } from '../core/comment-records.ts'
import { enqueueExecution } from '../executions/enqueue-execution.ts'
import { belongsToCurrentState } from '../core/execution-records.ts'
import type { StepServices } from '../steps/step-services.ts'
import { commitDecision, decide, findOut } from './decision.ts'
import { noWork, verdictDecision, type VerdictFindings, type VerdictRequest } from './give-verdict.ts'
import type { ExecutionRecord, Queries, TaskRecord } from '../ports/store.ts'
import { WorkspaceError } from '../ports/workspaces.ts'
import { lookAtWork } from '../workspaces/look-at-work.ts'
import { othersInWorkspace } from '../core/workspace-of.ts'

export interface FeedbackRequest extends FeedbackInput {
  readonly task_id: TaskId
  readonly by: VerdictRequest['by']
  readonly triggered_by: string
}

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
  return await decide<Plan, FeedbackFindings, FollowUp>(deps.context, {
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
    commit: (tx, plan, findings) => commitFollowUp(deps, tx, plan, request, findings, signal),
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

interface Plan {
  readonly task: TaskRecord
  readonly target: WorkflowState
  readonly role: string
  readonly assignee: Assignee
  readonly sent: CollectedFeedback
  readonly moves: boolean
  /** The holder of this role has a run, so the message is delivered after it. */
  readonly waits: boolean
}

function planFollowUp(deps: StepServices, q: Queries, request: FeedbackRequest): Plan | Refusal {
  const task = q.tasks.get(request.task_id)
  if (!task) return notFound('task')
  const sent = collectFeedback(deps.context, q, task, request)
  if (isRefusal(sent)) return sent
  const workflow = deps.transitions.workflowOf(q, task)
  const behind = planQueuedMessage(q, task, workflow, sent)
  if (behind) return behind
  const target = followUpState({ workflow, status: task.status, audit: q.transitions.byTask(task.id) })
  if (isRefusal(target)) return target
  const role = roleOf(target) ?? 'assignee'
  const assignee = task.roles[role]
  if (!assignee) {
    return { code: 'not_claimable', message: `No one is assigned as ${role}. Assign someone first.` }
  }
  const moves = task.status !== target.name
  const refusal =
    checkFollowUp(q, task, role, assignee, moves) ?? checkPendingEffects(q, task, moves, isAtGate(deps, q, task))
  return refusal ?? { task, target, role, assignee, sent, moves, waits: false }
}

/**
 * Plans a message for a role that has a run or a queued one in the current state: it is delivered next. Returns null
 * otherwise, and at a review gate.
 */
function planQueuedMessage(
  q: Queries,
  task: TaskRecord,
  workflow: Workflow,
  sent: CollectedFeedback,
): Plan | Refusal | null {
  const state = workflow.states.get(task.status)
  const role = state && roleOf(state)
  const assignee = role ? task.roles[role] : undefined
  if (!state || !role || !assignee || isReviewGate(workflow, state)) return null
  const isAtWork = q.executions.openOfTask(task.id).some((one) => one.role === role && belongsToCurrentState(q, one))
  if (!isAtWork) return null
  return checkTask(task) ?? { task, target: state, role, assignee, sent, moves: false, waits: true }
}

/** Runs the guards of a move away: the gate's own rules, and the hooks of the state that is left. */
async function runFeedbackGuards(
  deps: StepServices,
  { task, target, sent, moves }: Plan,
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

function commitFollowUp(
  deps: StepServices,
  tx: Tx,
  plan: Plan,
  request: FeedbackRequest,
  findings: FeedbackFindings,
  signal: AbortSignal,
): FollowUp | Refusal {
  const { task, role, assignee, sent, moves, waits } = plan
  const agent = assignee.type === 'agent' ? tx.agents.get(assignee.id) : null
  // After a move, the dispatch of the entry asks.
  const held = moves ? null : authorityRefusal(deps.context, task, agent)
  if (held) return held
  const current = moves ? sendBack(deps, tx, plan, request, findings, signal) : task
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
async function treeNow(deps: StepServices, { task, sent }: Plan, signal: AbortSignal): Promise<string | null> {
  if (sent.comments.every(({ anchor }) => anchor === null)) return null
  try {
    return (await lookAtWork(deps, task, { seen: null }, signal)).work?.tree ?? null
  } catch (error) {
    if (!(error instanceof WorkspaceError) || signal.aborted) throw error
    return null
  }
}

/** Checks what also prevents a claim from starting a run. */
function checkFollowUp(q: Queries, task: TaskRecord, role: string, assignee: Assignee, moves: boolean): Refusal | null {
  const agent = assignee.type === 'agent' ? q.agents.get(assignee.id) : null
  if (assignee.type === 'agent' && !agent) {
    return {
      code: 'not_claimable',
      message: `The agent assigned as ${role} was deleted. Assign another.`,
    }
  }
  if (agent?.paused) return { code: 'agent_paused', message: `${agent.name} is paused. Resume it first.` }
  if (agent && q.projects.get(task.project_id)?.paused_at !== null) {
    return { code: 'project_paused', message: 'The project is paused. Resume it to let agents start.' }
  }
  const refusal = checkTask(task)
  if (refusal) return refusal
  // If the task moves, the move ends a reviewer that still runs, as after any verdict.
  if (!moves && q.executions.openOfTask(task.id).length > 0) {
    return { code: 'already_claimed', message: 'Someone is working on this task. Wait, or stop the run.' }
  }
  if (agent && othersInWorkspace(q, task).length > 0) {
    return { code: 'workspace_locked', message: 'Another task is running in the same worktree. Wait for it to end.' }
  }
  return null
}

function checkTask(task: TaskRecord): Refusal | null {
  if (task.archived) return { code: 'not_claimable', message: 'The task is archived. Unarchive it first.' }
  if (task.error_annotation?.type === 'workspace_reset_required') {
    return { code: 'not_claimable', message: 'The worktree and branch are missing. Reset the workspace first.' }
  }
  return null
}

/**
 * Refuses feedback while pending steps could run beside the coder or move the task away from it. At a gate, the verdict
 * supersedes them.
 */
function checkPendingEffects(q: Queries, task: TaskRecord, moves: boolean, at_gate: boolean): Refusal | null {
  const pending = q.effects.first(task.id)
  if (!task.entry_barrier && (!pending || at_gate)) return null
  // A failed step waits for a person, and feedback is one possible decision.
  const isBroken = !task.entry_barrier && task.error_annotation?.type === 'hook_failed'
  if (isBroken && (moves || pending?.data.kind === 'leave')) return null
  const message = isBroken
    ? 'A hook failed. Retry or skip it, then send the feedback.'
    : 'The task is still moving. Try again in a moment.'
  return { code: 'entry_barrier', message }
}

/** Moves the task back as a person's rejection: at a gate, or from a later state by the same transition. */
function sendBack(
  deps: StepServices,
  tx: Tx,
  { task, target, sent }: Plan,
  request: FeedbackRequest,
  findings: VerdictFindings,
  signal: AbortSignal,
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

function isAtGate(deps: StepServices, q: Queries, task: TaskRecord): boolean {
  return deps.transitions.workflowOf(q, task).states.get(task.status)?.kind === 'gate'
}

function verdictOf({ task_id, by, triggered_by }: FeedbackRequest, feedback: string): VerdictRequest {
  return { task_id, verdict: 'fail', feedback, version: null, tree: null, by, triggered_by }
}

function activateExecution(deps: StepServices, tx: Tx, task: TaskRecord, execution: ExecutionRecord): void {
  const last_human_action_id = deps.context.newId()
  const error_annotation = clearAnnotation(task.error_annotation, 'run', tx.effects.first(task.id) !== null)
  tx.saveTask({ ...task, active_execution_id: execution.id, error_annotation, last_human_action_id })
}
