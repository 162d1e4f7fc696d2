import { isLaterId } from '../../src-shared/lang/compare-ids.ts'
import { BugError } from '../../src-shared/lang/bug-error.ts'
import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { ExecutionOverrides } from '../../src-shared/contract/executions.ts'
import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { Assignee, ErrorAnnotation, HookOutcome } from '../../src-shared/contract/tasks.ts'
import { clearAnnotation } from './rules/clear-annotation.ts'
import { checkPermissions } from '../domain/access/permissions.ts'
import { isSubmitted, planClaim, wipRefusal, workspaceLocked, type ClaimPlan } from './rules/claim-guard.ts'
import { limitRefusal } from '../executions/rules/limits.ts'
import { isRefusal, notFound } from '../domain/refusal.ts'
import { isDone, type Workflow } from '../domain/workflow/graph.ts'
import { runMoveGuards } from './before-exit.ts'
import { decide, type Decision } from './decision.ts'
import { cancelPendingMoves } from '../transitions/effect-steps.ts'
import type { OutboxWorker } from '../steps/outbox-worker.ts'
import type { Tx } from '../core/event-feed.ts'
import { enqueueExecution } from '../executions/enqueue-execution.ts'
import type { StepServices } from '../steps/step-services.ts'
import type { Scheduler } from '../executions/scheduler.ts'
import type { ExecutionRecord } from '../ports/execution-queries.ts'
import type { Queries } from '../ports/store.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { WorkspaceRecord } from '../ports/workspace-queries.ts'
import { authorityRefusal } from '../core/authority.ts'
import { claimRunners, planWorktree, trustRefusal } from './claim-runners.ts'
import { likelyPlace, runnerRefusal } from '../executions/runner-choice.ts'
import { lowerTask } from '../core/stack-of.ts'
import { othersInWorkspace, workspaceOf } from '../core/workspace-of.ts'
import { hasCoder } from './roles.ts'

export interface ClaimRequest {
  readonly task_id: TaskId
  readonly claimant: Assignee
  readonly triggered_by: string
  /** A person looked at the task and assigned the claimant, so the retry budget starts again. */
  readonly by_person: boolean
  readonly overrides: ExecutionOverrides
  /** A recovery action lets a blocked task start over, as a reset does. */
  readonly recovers?: boolean
}

export interface Claimed {
  readonly task: TaskRecord
  readonly execution: ExecutionRecord
  readonly workspace: WorkspaceRecord | null
}

export interface Claims {
  /**
   * Claims a task; of concurrent claims exactly one succeeds. Returns once the worktree exists or could not be
   * created.
   */
  claim(request: ClaimRequest, signal: AbortSignal): Promise<Claimed | Refusal>
  /** Returns what a claim would do now, without doing it. */
  preview(q: Queries, task: TaskRecord, claimant: Assignee, overrides?: ExecutionOverrides): ClaimPlan | Refusal
}

export interface ClaimDeps extends StepServices {
  readonly worker: OutboxWorker
  readonly scheduler: Scheduler
}

export function createClaims(deps: ClaimDeps): Claims {
  const { context } = deps
  const { read } = context.store
  return {
    preview: (q, task, claimant, overrides = {}) => planFor(deps, q, task, { claimant, overrides }),
    claim: async (request, signal) => {
      const result = await decide(context, claimDecision(deps, request, signal))
      if (isRefusal(result)) return result
      deps.worker.wake(request.task_id)
      await deps.worker.waitForStep(request.task_id, 'workspace')
      deps.scheduler.startQueued()
      const now = read.tasks.get(request.task_id)
      const execution = read.executions.get(result.id)
      const unmade = now?.error_annotation ?? null
      if (execution?.status === 'cancelled' && unmade !== null && isAboutWorkspace(unmade)) {
        return { code: 'workspace_failed', message: unmade.message, details: { status: now?.status } }
      }
      if (!now || !execution) throw new BugError(`The claim of ${request.task_id} is gone.`)
      return { task: now, execution, workspace: workspaceOf(read, now) }
    },
  }
}

/** The worktree could not be created, so the claim has blocked the task. */
const isAboutWorkspace = ({ type }: ErrorAnnotation) =>
  type === 'workspace_error' || type === 'workspace_reset_required'

interface PlannedClaim {
  readonly task: TaskRecord
  readonly plan: ClaimPlan
}

function claimDecision(
  deps: StepServices,
  request: ClaimRequest,
  signal: AbortSignal,
): Decision<PlannedClaim, readonly HookOutcome[], ExecutionRecord> {
  return {
    plan: (q) => {
      const task = q.tasks.get(request.task_id)
      if (!task) return notFound('task')
      const plan = planFor(deps, q, task, request)
      return isRefusal(plan) ? plan : { task, plan }
    },
    ask: (planned) => runClaimGuards(deps, planned, request, signal),
    commit: (tx, planned, checked) => commitClaim(deps, tx, planned, request, checked),
  }
}

/** Runs the slow checks: hooks before the source is left, and the lock on an existing worktree. */
async function runClaimGuards(
  deps: StepServices,
  { task, plan }: PlannedClaim,
  request: ClaimRequest,
  signal: AbortSignal,
): Promise<readonly HookOutcome[] | Refusal> {
  const { read } = deps.context.store
  let outcomes: readonly HookOutcome[] = []
  const target = plan.path.at(-1)
  if (target !== undefined) {
    const move = { to: target, cause: 'claim', triggered_by: request.triggered_by, version: null } as const
    const checked = await runMoveGuards(deps, task, move, signal)
    if (isRefusal(checked)) return checked
    outcomes = checked.hooks
  }
  const untrusted = await trustRefusal(deps, task, request, signal)
  if (untrusted) return untrusted
  const workspace = workspaceOf(read, task)
  if (!workspace || !needsLock(request)) return outcomes
  const holder = await deps.context.places.of(workspace.task_id).locks.readLock(workspace.path)
  return holder ? { ...workspaceLocked, details: { ...holder } } : outcomes
}

/**
 * Returns whether a claim needs the worktree's lock: a person's execution has none, and a claimant that waits gets the
 * worktree when it is free.
 */
function needsLock({ claimant, overrides }: Pick<ClaimRequest, 'claimant' | 'overrides'>): boolean {
  return claimant.type === 'agent' && overrides.lock_policy !== 'wait'
}

function planFor(
  deps: StepServices,
  q: Queries,
  task: TaskRecord,
  request: Pick<ClaimRequest, 'claimant' | 'recovers' | 'overrides'>,
): ClaimPlan | Refusal {
  const { claimant, recovers = false } = request
  const workflow = deps.transitions.workflowOf(q, task)
  const agent = claimant.type === 'agent' ? q.agents.get(claimant.id) : null
  if (claimant.type === 'agent' && !agent)
    return { code: 'not_found', message: 'The agent was deleted. Claim with another.', details: { resource: 'agent' } }
  const permissionRefusal = agent && checkPermissions(agent)
  if (permissionRefusal) return permissionRefusal
  const runners = claimRunners(deps, q, task, agent, request.overrides)
  if (isRefusal(runners)) return runners
  const place = likelyPlace(deps.context, q, task.id, runners.ids)
  const unheld = authorityRefusal(deps.context, task, agent, place)
  if (unheld) return unheld
  const project = q.projects.get(task.project_id)
  const open_dependencies = q.dependencies.of(task.id).flatMap((id) => {
    const other = q.tasks.get(id)
    if (!other || isDone(workflow, other.status)) return []
    return [{ id, context_holder: other.context_holder, submitted: isSubmitted(workflow, other.status) }]
  })
  const plan = planClaim({
    workflow,
    status: task.status,
    archived: task.archived,
    entry_barrier: task.entry_barrier,
    roles: task.roles,
    error_annotation: task.error_annotation,
    has_open_execution: q.executions.openOfTask(task.id).length > 0,
    was_reset: recovers || wasResetSinceBlocked(q, task),
    claimant,
    agent_paused: agent?.paused === true,
    project_paused: project?.paused_at !== null,
    uncontainable: agent && place.containment.refusal(agent.config.containment ?? 'none'),
    open_dependencies,
    unsubmitted_lower: unsubmittedLower(q, workflow, task),
    parent_workspace: parentWorkspace(q, workflow, task),
    workspace_taken: needsLock(request) && othersInWorkspace(q, task).length > 0,
  })
  if (isRefusal(plan)) return plan
  const full = claimant.type === 'agent' ? fullState(q, workflow, task, plan) : null
  if (full) return full
  const reached = deps.limits.reached(q, task, agent)
  if (reached) return limitRefusal(reached)
  const waits = request.overrides.lock_policy === 'wait'
  return (runners.ids && runnerRefusal(q, runners.ids, { project_id: task.project_id, agent, waits })) ?? plan
}

/** Refuses to bring a task into a state that has as many tasks as its limit allows. */
function fullState(q: Queries, workflow: Workflow, task: TaskRecord, { path }: ClaimPlan): Refusal | null {
  const state = path.length === 0 ? undefined : workflow.states.get(path.at(-1) ?? '')
  if (state?.wip_limit === undefined) return null
  return wipRefusal(state, q.tasks.idsInStatus(task.project_id, state.name))
}

/** Returns the task below in the stack while it is not submitted; null once the task has a branch of its own. */
function unsubmittedLower(q: Queries, workflow: Workflow, task: TaskRecord): { id: TaskId; ref: string } | null {
  const lower = lowerTask(q, workflow, task)
  if (lower?.phase !== 'open' || (q.workspaces.byTask(task.id)?.base_commit ?? null) !== null) return null
  return { id: lower.task.id, ref: lower.ref }
}

/**
 * Returns the state of the parent's workspace: an ordered subtask needs a parent that has a coder, is not finished and
 * has a workspace.
 */
function parentWorkspace(q: Queries, workflow: Workflow, task: TaskRecord): 'not_needed' | 'ready' | 'missing' {
  const parent = task.subtask_mode === 'ordered' && task.parent_id !== null ? q.tasks.get(task.parent_id) : null
  if (!parent) return 'not_needed'
  const workspace = workspaceOf(q, parent)
  const isOpen = workflow.states.get(parent.status)?.kind !== 'terminal'
  const isThere = workspace !== null && workspace.status !== 'cleaned'
  return isOpen && isThere && hasCoder(workflow, parent) ? 'ready' : 'missing'
}

/**
 * Returns whether the task was reset since it was blocked. A reset creates a new workspace; without one the old one
 * stays.
 */
function wasResetSinceBlocked(q: Queries, task: TaskRecord): boolean {
  const workspace = workspaceOf(q, task)
  const blocked = q.transitions.byTask(task.id).at(-1)
  if (task.error_annotation !== null || !workspace || !blocked) return false
  return isLaterId(workspace.id, blocked.id)
}

function commitClaim(
  deps: StepServices,
  tx: Tx,
  { task, plan }: PlannedClaim,
  request: ClaimRequest,
  checked: readonly HookOutcome[],
): ExecutionRecord | Refusal {
  const { context, transitions } = deps
  const project = tx.projects.get(task.project_id)
  if (!project) throw new BugError(`Task ${task.id} has no project.`)
  let current: TaskRecord = { ...task, roles: { ...task.roles, [plan.role]: request.claimant } }
  for (const to of plan.path) {
    const moved = transitions.apply(tx, current, {
      to,
      cause: 'claim',
      triggered_by: request.triggered_by,
      version: null,
      reason: null,
      checked: current.version === task.version ? checked : [],
    })
    if (isRefusal(moved)) return moved
    current = moved.task
  }
  // A claim that keeps the state cancels a move that its hooks have held up: there is new work to do.
  if (plan.path.length === 0) cancelPendingMoves(tx, task)
  planWorktree(deps, tx, { task: current, project, role: plan.works_as, request })
  const assignee = current.roles[plan.works_as] ?? request.claimant
  const record = enqueueExecution(context, tx, {
    task: current,
    role: plan.works_as,
    assignee,
    overrides: request.overrides,
    resume: plan.path.length === 0,
    claimed: true,
    // A follow-up makes no transition, so no hook would start it.
    dispatched: plan.path.length === 0,
  })
  tx.saveTask({
    ...current,
    active_execution_id: record.id,
    start_when_ready: null,
    error_annotation: clearAnnotation(current.error_annotation, 'run', tx.effects.first(task.id) !== null),
    last_human_action_id: request.by_person ? context.newId() : current.last_human_action_id,
  })
  return record
}
