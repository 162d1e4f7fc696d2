import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { AgentId, TaskId } from '../../src-shared/contract/ids.ts'
import type { ErrorAnnotation, HookOutcome, RecoveryAction, WorkPlace } from '../../src-shared/contract/tasks.ts'
import { limitAmount } from '../../src-shared/contract/limit-names.ts'
import { limitRefusal, type ReachedLimit } from '../executions/rules/limits.ts'
import { isPerson } from '../domain/transition/audience.ts'
import type { Effect } from '../domain/transition/effects.ts'
import { invalidInput, isRefusal, notFound } from '../domain/refusal.ts'
import { nowIso } from '../core/ground.ts'
import { completeStep, stepName, recordOutcome, stepsOfEffect } from '../transitions/effect-steps.ts'
import type { Tx } from '../core/event-feed.ts'
import { retryFailedHooks, skipFirstFailedHook } from '../hooks/before-work.ts'
import type { ActionDeps, Actor, Outcome } from './action-services.ts'
import { currentOutcome, transition } from './move-task.ts'
import { checkRecovery, mergeStateFrom, restartExecution } from './recovery-actions.ts'
import { commitMessage, keepMessage } from '../workspaces/commit-message.ts'
import { noteRunFindings } from '../workspaces/repository-changes.ts'
import { forgetPlace } from '../workspaces/work-elsewhere.ts'
import { sendFeedback } from './send-feedback.ts'
import type { EffectRecord } from '../ports/effect-queries.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { WorkspaceRecord } from '../ports/workspace-queries.ts'

export interface RecoveryRequest {
  readonly task_id: TaskId
  readonly action: RecoveryAction
  readonly reason: string | null
  /** The tree that the caller looked at, for a merge. */
  readonly tree?: string | null
  /** With `raise_limit`: the new limit. */
  readonly to?: number | null
}

const reasonRequired = invalidInput('reason', 'Say why the hook is skipped: give a reason.')

/** Performs one of the recovery actions that the task's error names. */
export async function recoverTask(
  deps: ActionDeps,
  request: RecoveryRequest,
  actor: Actor,
  signal: AbortSignal,
): Promise<Outcome | Refusal> {
  const { context } = deps
  const task = context.store.read.tasks.get(request.task_id)
  if (!task) return notFound('task')
  if (request.action === 'raise_limit') return recoverFromLimit(deps, task, request, actor, signal)
  const refusal = checkRecovery(task, request.action)
  if (refusal) return refusedByLimit(deps, task, request.action) ?? refusal
  if (request.action === 'retry_merge') {
    const status = mergeStateFrom(deps, context.store.read, task)
    if (status === null) return { code: 'recovery_not_available', message: 'The workflow leads from here to no merge.' }
    const move = { task_id: task.id, status, version: task.version, reason: 'retry_merge', tree: request.tree ?? null }
    return transition(deps, move, actor, signal)
  }
  if (request.action === 'absorb_nested' || request.action === 'ignore_nested') {
    return decideNested(deps, task, request, actor, signal)
  }
  if (request.action === 'take_work' || request.action === 'leave_work') {
    return decideElsewhere(deps, task, request, actor, signal)
  }
  if (request.action === 'allow_start') return await allowStart(deps, task, actor, signal)
  if (request.action === 'skip_hook_once' && request.reason === null) return reasonRequired
  if (request.action === 'retry_hook' || request.action === 'skip_hook_once') {
    return resumeHook(deps, task, request, actor)
  }
  return await workAgain(deps, task, request.action === 'resume', actor, signal)
}

/** Starts on a person's word what a contained run may not start. */
async function allowStart(
  deps: ActionDeps,
  task: TaskRecord,
  actor: Actor,
  signal: AbortSignal,
): Promise<Outcome | Refusal> {
  const { context } = deps
  if (!isPerson(actor.triggered_by)) return { code: 'humans_only', message: 'Only a person can allow the start.' }
  const freed = context.feed.commit((tx) => {
    const now = tx.tasks.get(task.id) ?? task
    return tx.saveTask({ ...now, error_annotation: null, last_human_action_id: context.newId() })
  })
  const { triggered_by } = actor
  const wish = freed.start_when_ready
  if (wish !== null) {
    const claimant = { type: 'agent', id: wish.agent_id } as const
    const claim = { task_id: task.id, claimant, triggered_by, by_person: true, overrides: wish.overrides }
    const claimed = await deps.claims.claim(claim, signal)
    return isRefusal(claimed) ? claimed : currentOutcome(deps, task.id)
  }
  const dispatched = await deps.dispatch(freed)
  if (dispatched.kind === 'skipped') return await workAgain(deps, freed, false, actor, signal)
  context.feed.commit((tx) => {
    const now = tx.tasks.get(task.id)
    if (now && dispatched.kind === 'failed') tx.saveTask({ ...now, error_annotation: dispatched.annotation ?? null })
  })
  return currentOutcome(deps, task.id)
}

/** Starts the run of the task's state again, or claims the task for who has its role. */
async function workAgain(
  deps: ActionDeps,
  task: TaskRecord,
  resume: boolean,
  actor: Actor,
  signal: AbortSignal,
): Promise<Outcome | Refusal> {
  const { context } = deps
  const again = context.feed.commit((tx) => restartExecution(deps, tx, task, resume, actor.triggered_by))
  if (typeof again === 'object') return again
  if (again === 'queued') {
    deps.scheduler.startQueued()
    return currentOutcome(deps, task.id)
  }
  const claimant = Object.values(task.roles).find((one) => one.type === 'agent') ?? Object.values(task.roles)[0]
  if (!claimant) return { code: 'recovery_not_available', message: 'No one is assigned to this task. Start it again.' }
  const { triggered_by } = actor
  const by = { claimant, triggered_by, by_person: isPerson(triggered_by) }
  const claimed = await deps.claims.claim({ task_id: task.id, ...by, overrides: {}, recovers: true }, signal)
  return isRefusal(claimed) ? claimed : currentOutcome(deps, task.id)
}

/**
 * Raises the limit that keeps agents from the task, for this task alone. A run that was stopped goes on; a task that
 * waits for a claim can be claimed then.
 */
async function recoverFromLimit(
  deps: ActionDeps,
  task: TaskRecord,
  { to = null }: RecoveryRequest,
  actor: Actor,
  signal: AbortSignal,
): Promise<Outcome | Refusal> {
  const { read } = deps.context.store
  if (deps.transitions.workflowOf(read, task).states.get(task.status)?.kind === 'terminal')
    return { code: 'task_terminal', message: 'This task is finished. Create a new one.' }
  const reached = limitInTheWay(deps, task)
  if (!reached) return { code: 'recovery_not_available', message: 'No limit keeps agents from this task. Claim it.' }
  const { limit, spent } = reached
  if (to === null) return invalidInput('to', 'Say what it is raised to: give `to`.')
  if (to <= spent) return invalidInput('to', `${limitAmount(limit, spent)} are used already. Raise it above that.`)
  const raised = deps.context.feed.commit((tx) => {
    const current = tx.tasks.get(task.id) ?? task
    const { raises = {}, warned = {} } = current.limits ?? {}
    return tx.saveTask({ ...current, limits: { raises: { ...raises, [limit]: to }, warned } })
  })
  const stopped = task.error_annotation
  if (stopped !== null && goesOn(stopped)) return await workAgain(deps, raised, true, actor, signal)
  deps.scheduler.startQueued()
  return currentOutcome(deps, task.id)
}

/** Returns whether the work of a task with this error goes on when its limit is raised. */
const goesOn = ({ recovery_actions }: ErrorAnnotation): boolean =>
  recovery_actions.some((action) => action === 'raise_limit' || action === 'resume' || action === 'retry_execution')

/** Returns the refusal of work on a task whose next claim a limit refuses, in the words of that claim. */
function refusedByLimit(deps: ActionDeps, task: TaskRecord, action: RecoveryAction): Refusal | null {
  const reached = action === 'retry_execution' || action === 'resume' ? limitInTheWay(deps, task) : null
  return reached && limitRefusal(reached)
}

/** Returns the limit that ended the task's last run, or else the one that refuses its next claim. */
function limitInTheWay({ context, limits }: ActionDeps, task: TaskRecord): ReachedLimit | null {
  const { read } = context.store
  const { type, limit, allowed = 0, spent = 0 } = task.error_annotation ?? {}
  if (type === 'limit_reached' && limit !== undefined) return { limit, allowed, spent }
  const holds = (id: AgentId) => Object.values(task.roles).some((one) => one.type === 'agent' && one.id === id)
  // The agents that have the task come first; a claim may name any other.
  const agents = read.agents.list().toSorted((one, other) => Number(holds(other.id)) - Number(holds(one.id)))
  for (const agent of agents) {
    const reached = limits.reached(read, task, agent)
    if (reached) return reached
  }
  return null
}

/** Applies a person's decision about repositories inside the worktree, then runs the checks. */
async function decideNested(
  deps: ActionDeps,
  task: TaskRecord,
  request: RecoveryRequest,
  actor: Actor,
  signal: AbortSignal,
): Promise<Outcome | Refusal> {
  const { context, worktrees } = deps
  if (request.action === 'ignore_nested' && !isPerson(actor.triggered_by)) {
    return { code: 'humans_only', message: 'Only a person can leave a repository out.' }
  }
  const workspace = worktrees.of(task)
  const ref = workspace && (await worktrees.ref(workspace))
  const folders = task.error_annotation?.folders ?? []
  if (workspace && ref && ref.path !== null) {
    const worktree = { ...ref, path: ref.path }
    const change = request.action === 'absorb_nested' ? 'absorbNested' : 'removeNested'
    // A repository that is gone by now needs no decision.
    const files = context.places.of(workspace.task_id).worktrees
    const { nested } = await files.innerRepositories(worktree, { signal })
    const left = nested.map(({ path }) => path).filter((path) => folders.includes(path))
    await files[change](worktree, workspace.task_id, left, { signal })
  }
  return resumeHook(deps, task, request, actor)
}

/** Applies a person's decision about work besides the task's branch, then runs the checks. */
async function decideElsewhere(
  deps: ActionDeps,
  task: TaskRecord,
  request: RecoveryRequest,
  actor: Actor,
  signal: AbortSignal,
): Promise<Outcome | Refusal> {
  const { context, worktrees } = deps
  if (request.action === 'leave_work' && !isPerson(actor.triggered_by)) {
    return { code: 'humans_only', message: 'Only a person can leave work out.' }
  }
  const workspace = worktrees.of(task)
  const ref = workspace && (await worktrees.ref(workspace))
  const places = task.error_annotation?.places ?? []
  if (!workspace || !ref || ref.path === null) return resumeHook(deps, task, request, actor)
  const worktree = { ...ref, path: ref.path }
  const message = commitMessage(task, keepMessage)
  const { elsewhere } = context.places.of(workspace.task_id)
  for (const place of places) {
    const { task_id: owner } = workspace
    const taken =
      request.action === 'take_work'
        ? await elsewhere.takeWork(worktree, owner, place, message, { signal })
        : await elsewhere.leaveWork(worktree, owner, place, { signal }).then(() => null)
    noteDecided(deps, task.id, place, taken !== null)
    if (taken?.kind === 'conflict')
      return await sendConflict(deps, task, { ...taken, branch: ref.branch }, request, actor, signal)
  }
  return resumeHook(deps, task, request, actor)
}

function noteDecided({ context }: ActionDeps, id: TaskId, place: WorkPlace, isTaken: boolean): void {
  context.feed.commit((tx) => {
    const task = tx.tasks.get(id)
    if (!task) return
    const settled = { ...task, run_findings: forgetPlace(task.run_findings, place) }
    const from = place.ref ?? place.kind
    const note = { kind: 'work_taken', from, commits: place.commits } as const
    tx.saveTask(isTaken ? noteRunFindings(tx, settled, { notes: [note], places: [] }) : settled)
  })
}

/** Lets the coder merge what does not merge by itself. A review that is being entered sends the task back with it. */
async function sendConflict(
  deps: ActionDeps,
  task: TaskRecord,
  { commit, files, branch }: { readonly commit: string; readonly files: readonly string[]; readonly branch: string },
  request: RecoveryRequest,
  actor: Actor,
  signal: AbortSignal,
): Promise<Outcome | Refusal> {
  const { context, worker, scheduler } = deps
  const message = `Work of an earlier run is at commit ${commit}, not on ${branch}. Merge that commit into ${branch} and resolve the conflicts in ${files.slice(0, 20).join(', ')}.`
  if (context.store.read.effects.first(task.id) !== null) {
    context.feed.commit((tx) => {
      const current = tx.tasks.get(task.id)
      if (current) tx.saveTask({ ...current, run_findings: { ...current.run_findings, conflict: message } })
    })
    return resumeHook(deps, task, request, actor)
  }
  const by =
    actor.agent_id === null ? ({ type: 'operator' } as const) : ({ type: 'agent', id: actor.agent_id } as const)
  const feedback = { task_id: task.id, by, triggered_by: actor.triggered_by, comment_ids: [], message }
  const sent = await sendFeedback(deps, feedback, signal)
  if (isRefusal(sent)) return sent
  worker.wake(task.id)
  scheduler.startQueued()
  return currentOutcome(deps, task.id)
}

/** Runs the failed step again, or skips it once. */
function resumeHook(deps: ActionDeps, task: TaskRecord, request: RecoveryRequest, actor: Actor): Outcome {
  const { context } = deps
  context.feed.commit((tx) => {
    const current = tx.tasks.get(task.id) ?? task
    const effect = tx.effects.first(task.id)
    if (effect && request.action === 'skip_hook_once') skipStep(deps, tx, effect, request, actor)
    else resumeStep(tx, task.id)
    const last_human_action_id = isPerson(actor.triggered_by) ? context.newId() : current.last_human_action_id
    tx.saveTask({ ...current, error_annotation: null, last_human_action_id })
  })
  deps.worker.wake(task.id)
  return currentOutcome(deps, task.id)
}

/** Makes the step that holds a task pending again; the worker then runs it. */
export function resumeStep(tx: Tx, task_id: TaskId): void {
  const effect = tx.effects.first(task_id)
  if (effect) tx.effects.update(effect.id, again(effect.data))
}

/** Returns the effect with the failed step pending. */
function again(effect: Effect): Effect {
  if (effect.kind === 'enter' && effect.failed !== undefined && effect.failed.length > 0)
    return retryFailedHooks(effect)
  const { blocked: _blocked, ...data } = effect
  return data
}

/** Skips a hook once; the timeline records who did it, when and why. */
function skipStep(deps: ActionDeps, tx: Tx, effect: EffectRecord, request: RecoveryRequest, actor: Actor): void {
  const step = stepsOfEffect(deps, tx, effect)[effect.data.cursor]
  const why = `skipped once by ${actor.triggered_by} at ${nowIso(deps.context)}: ${request.reason ?? ''}`
  if (step?.kind === 'check_before_work' && effect.data.kind === 'enter') {
    const skipped = skipFirstFailedHook(effect.data, why)
    const task = tx.tasks.get(effect.task_id)
    if (task) recordOutcome(tx, effect, step, skipped, task)
    tx.effects.update(effect.id, skipped.effect)
    return
  }
  if (step?.kind !== 'hook') return
  const outcome: HookOutcome = {
    phase: step.phase,
    action: stepName(step),
    outcome: 'skipped',
    reason: why,
    duration_ms: 0,
  }
  completeStep(deps, tx, effect, { outcome })
}

/** Returns whether the task's worktree, which Copse takes for ready, is none of its repository's. */
async function isUnknownToGit(
  { context, worktrees }: ActionDeps,
  task: TaskRecord,
  signal: AbortSignal,
): Promise<boolean> {
  const workspace = worktrees.of(task)
  if (workspace?.status !== 'ready') return false
  return !(await context.places
    .of(workspace.task_id)
    .worktrees.isKnownTo(workspace.repo_path, workspace.path, { signal }))
}

/**
 * Starts the task over from the default branch after its worktree and branch were found to be gone; where git doesn't
 * know the worktree (a repository that was restored from a backup), makes it again from what is left.
 */
export async function resetWorkspace(
  deps: ActionDeps,
  task_id: TaskId,
  signal: AbortSignal,
): Promise<{ task: TaskRecord; workspace: WorkspaceRecord } | Refusal> {
  const { context, worktrees } = deps
  const task = context.store.read.tasks.get(task_id)
  if (!task) return notFound('task')
  if (task.error_annotation?.type !== 'workspace_reset_required' && !(await isUnknownToGit(deps, task, signal))) {
    return { code: 'reset_not_required', message: 'The workspace of this task is in order; there is nothing to reset.' }
  }
  const found = await worktrees.ensure(task, signal)
  // The first attempt has noted that the branch is gone too, so the second one starts over.
  const ensured = found.kind === 'branch_gone' ? await worktrees.ensure(task, signal) : found
  if (ensured.kind !== 'ready') {
    return {
      code: 'reset_not_required',
      message: ensured.kind === 'failed' ? ensured.message : 'The workspace could not be made.',
    }
  }
  const reset = context.feed.commit((tx) => {
    const current = tx.tasks.get(task_id) ?? task
    return tx.saveTask({ ...current, error_annotation: null, active_execution_id: null })
  })
  return { task: reset, workspace: ensured.workspace }
}
