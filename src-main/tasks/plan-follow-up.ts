import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { Assignee } from '../../src-shared/contract/tasks.ts'
import type { WorkflowState } from '../../src-shared/contract/workflow-definition.ts'
import { belongsToCurrentState } from '../core/execution-records.ts'
import { othersInWorkspace } from '../core/workspace-of.ts'
import { isRefusal, notFound } from '../domain/refusal.ts'
import { followUpState } from './rules/follow-up-state.ts'
import { isReviewGate, roleOf, type Workflow } from '../domain/workflow/graph.ts'
import type { Queries } from '../ports/store.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { StepServices } from '../steps/step-services.ts'
import { collectFeedback, type CollectedFeedback, type FeedbackInput } from './collect-feedback.ts'
import type { VerdictRequest } from './give-verdict.ts'

export interface FeedbackRequest extends FeedbackInput {
  readonly task_id: TaskId
  readonly by: VerdictRequest['by']
  readonly triggered_by: string
}

/** Where feedback goes, and what it does to the task. */
export interface FollowUpPlan {
  readonly task: TaskRecord
  readonly target: WorkflowState
  readonly role: string
  readonly assignee: Assignee
  readonly sent: CollectedFeedback
  readonly moves: boolean
  /** The holder of this role has a run, so the message is delivered after it. */
  readonly waits: boolean
}

/** Plans who gets the feedback, and whether the task moves back for it. */
export function planFollowUp(deps: StepServices, q: Queries, request: FeedbackRequest): FollowUpPlan | Refusal {
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
): FollowUpPlan | Refusal | null {
  const state = workflow.states.get(task.status)
  const role = state && roleOf(state)
  const assignee = role ? task.roles[role] : undefined
  if (!state || !role || !assignee || isReviewGate(workflow, state)) return null
  const isAtWork = q.executions.openOfTask(task.id).some((one) => one.role === role && belongsToCurrentState(q, one))
  if (!isAtWork) return null
  return checkTask(task) ?? { task, target: state, role, assignee, sent, moves: false, waits: true }
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

export function isAtGate(deps: StepServices, q: Queries, task: TaskRecord): boolean {
  return deps.transitions.workflowOf(q, task).states.get(task.status)?.kind === 'gate'
}
