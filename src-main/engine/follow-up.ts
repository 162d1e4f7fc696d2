import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { CommentId, ExecutionId, TaskId } from '../../src-shared/contract/ids.ts'
import type { Assignee } from '../../src-shared/contract/tasks.ts'
import type { WorkflowState } from '../../src-shared/contract/workflow-definition.ts'
import { feedbackText, threadsOf } from '../domain/task/feedback-text.ts'
import { followUpState } from '../domain/task/follow-up-state.ts'
import { composePrompt } from '../domain/task/prompt.ts'
import { isRefusal } from '../domain/transition/plan-transition.ts'
import { roleOf } from '../domain/workflow/graph.ts'
import { nowIso } from './context.ts'
import type { Tx } from './event-feed.ts'
import { openExecution } from './open-execution.ts'
import type { StepDeps } from './perform-step.ts'
import { giveVerdict, type VerdictRequest } from './reviews.ts'
import type { CommentRecord, ExecutionRecord, TaskRecord } from './store-port.ts'
import { toSettings, toTask } from './views.ts'

export interface FeedbackRequest {
  readonly task_id: TaskId
  /** Null: all that are not resolved. */
  readonly comment_ids: readonly CommentId[] | null
  readonly message: string | null
  readonly by: VerdictRequest['by']
  readonly triggered_by: string
}

export interface FollowUp {
  readonly execution_id: ExecutionId
  /** It went back to where it is worked on: what the old place had still to do is overtaken. */
  readonly moved: boolean
}

/** A prompt that no agent reads to its end helps nobody. */
const maxText = 400_000

/**
 * Sends comments and a message back to whoever does the work, in one transaction: the task goes back
 * there where it has left, a follow-up execution waits with the prompt, and what was sent is resolved.
 * A refusal has changed nothing.
 */
export function sendFeedback(deps: StepDeps, tx: Tx, request: FeedbackRequest): FollowUp | Refusal {
  const task = tx.tasks.get(request.task_id)
  if (!task) return { code: 'not_found', message: 'There is no such task.', details: { resource: 'task' } }
  const sent = gather(deps, tx, task, request)
  if (isRefusal(sent)) return sent
  const workflow = deps.transitions.workflowOf(tx, task)
  const target = followUpState({ workflow, status: task.status, audit: tx.transitions.byTask(task.id) })
  if (isRefusal(target)) return target
  const role = roleOf(target) ?? 'assignee'
  const assignee = task.roles[role]
  if (!assignee) {
    return { code: 'not_claimable', message: `Nobody has the role ${role}. Claim the task, or give the role away.` }
  }
  const moved = task.status !== target.name
  const refusal = checkFollowUp(tx, task, role, assignee) ?? checkWay(tx, task, moved)
  if (refusal) return refusal
  const current = moved ? sendBack(deps, tx, task, target, request, sent.text) : task
  if (isRefusal(current)) return current
  const execution = openExecution(deps.context, tx, {
    task: current,
    role,
    judges: false,
    assignee,
    // A rejection's words reach the prompt by themselves.
    overrides: moved ? {} : { prompt: promptInPlace(tx, task, role, sent.text) },
    resume: true,
    // Where it moves, the entry's own dispatch lets it start.
    dispatched: !moved,
  })
  putGoing(deps, tx, current, execution)
  for (const comment of sent.comments) resolve(deps, tx, task, comment)
  return { execution_id: execution.id, moved }
}

interface Sent {
  readonly text: string
  readonly comments: readonly CommentRecord[]
}

function gather(deps: StepDeps, tx: Tx, task: TaskRecord, request: FeedbackRequest): Sent | Refusal {
  const comments = tx.comments.byTask(task.id)
  const known = new Set(comments.map((comment) => comment.id))
  const unknown = request.comment_ids?.find((id) => !known.has(id))
  if (unknown !== undefined) {
    return {
      code: 'not_found',
      message: `This task has no comment ${unknown}.`,
      details: { resource: 'comment', id: unknown },
    }
  }
  const open = comments.filter((comment) => comment.resolved_at === null).map((comment) => comment.id)
  const threads = threadsOf(comments, new Set(request.comment_ids ?? open))
  if (threads.length === 0 && request.message === null) {
    return invalid('message', 'There is nothing to send: no comment is unresolved. Write a message, or a comment.')
  }
  const project = tx.projects.get(task.project_id)
  const redact = deps.context.redactor(project ? toSettings(project).redaction_patterns : [])
  const text = feedbackText(threads, request.message === null ? null : redact(request.message))
  if (text.length > maxText) {
    return invalid('comment_ids', `This is too long to send at once (${text.length} characters). Name fewer comments.`)
  }
  return { text, comments: threads.flat().filter((comment) => comment.resolved_at === null) }
}

function invalid(path: string, message: string): Refusal {
  return { code: 'validation_failed', message, details: { issues: [{ path, message }] } }
}

/** What also keeps a claim from starting somebody. */
function checkFollowUp(tx: Tx, task: TaskRecord, role: string, assignee: Assignee): Refusal | null {
  const agent = assignee.type === 'agent' ? tx.agents.get(assignee.id) : null
  if (assignee.type === 'agent' && !agent) {
    return {
      code: 'not_claimable',
      message: `The agent with the role ${role} was deleted. Give the role to another.`,
    }
  }
  if (agent?.paused) return { code: 'agent_paused', message: `${agent.name} is paused. Resume it first.` }
  if (agent && tx.projects.get(task.project_id)?.paused_at !== null) {
    return { code: 'project_paused', message: 'The project is paused. Resume it to let agents start.' }
  }
  if (task.archived) return { code: 'not_claimable', message: 'The task is archived. Unarchive it first.' }
  if (task.error_annotation?.type === 'workspace_reset_required') {
    return { code: 'not_claimable', message: 'The worktree and its branch are gone. Reset the workspace first.' }
  }
  if (tx.executions.openOfTask(task.id).length > 0) {
    return { code: 'already_claimed', message: 'Somebody is at work on this task. Wait for the end, or stop it.' }
  }
  return null
}

/** What the task has still to do must not run beside its coder, or move it away from them. */
function checkWay(tx: Tx, task: TaskRecord, moves: boolean): Refusal | null {
  const pending = tx.effects.first(task.id)
  const underWay = {
    code: 'entry_barrier',
    message: 'The task is still on its way through its workflow. Wait for it.',
  } as const
  if (task.entry_barrier) return underWay
  if (!pending) return null
  // A step that broke waits for a person, and new work is one answer to it.
  if (task.error_annotation?.type !== 'hook_failed') return underWay
  if (moves) return null
  if (pending.data.kind !== 'leave') {
    return { code: 'entry_barrier', message: 'A hook failed on the way in. Run it again first.' }
  }
  tx.effects.remove(pending.id)
  return null
}

/** A person's no at a gate; from beyond it, the same way back. */
function sendBack(
  deps: StepDeps,
  tx: Tx,
  task: TaskRecord,
  target: WorkflowState,
  request: FeedbackRequest,
  text: string,
): TaskRecord | Refusal {
  const { by, triggered_by } = request
  const isAtGate = deps.transitions.workflowOf(tx, task).states.get(task.status)?.kind === 'gate'
  if (isAtGate) {
    const judged = { task_id: task.id, verdict: 'fail', feedback: text, version: null, by, triggered_by } as const
    return giveVerdict(deps, tx, judged) ?? tx.tasks.get(task.id) ?? task
  }
  const back = { to: target.name, cause: 'reject', triggered_by, version: null, reason: text } as const
  const moved = deps.transitions.apply(tx, task, back)
  return isRefusal(moved) ? moved : moved.task
}

/** Whole in itself, so that it serves a session that goes on and one that starts anew. */
function promptInPlace(tx: Tx, task: TaskRecord, role: string, feedback: string): string {
  const base = tx.workspaces.byTask(task.id)?.base_branch ?? tx.repos.get(task.repo_id)?.default_branch
  return composePrompt({
    role,
    title: task.title,
    description: task.description,
    base_branch: base ?? 'main',
    feedback,
    resumed: false,
    judges: false,
    review_prompt: null,
    has_mcp: false,
  })
}

function putGoing(deps: StepDeps, tx: Tx, task: TaskRecord, execution: ExecutionRecord): void {
  const now = nowIso(deps.context)
  const going: TaskRecord = {
    ...task,
    active_execution_id: execution.id,
    error_annotation: null,
    attended_at: now,
    updated_at: now,
  }
  tx.tasks.put(going)
  tx.emit('task.updated', { project_id: task.project_id, task_id: task.id, task: toTask(tx, going) })
}

function resolve(deps: StepDeps, tx: Tx, task: TaskRecord, comment: CommentRecord): void {
  const now = nowIso(deps.context)
  const resolved: CommentRecord = { ...comment, resolved_at: now, updated_at: now }
  tx.comments.put(resolved)
  tx.emit('comment.updated', { project_id: task.project_id, task_id: task.id, comment: resolved })
}
