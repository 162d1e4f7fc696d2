import type { Refusal } from '../../../src-shared/contract/errors.ts'
import type { TaskId } from '../../../src-shared/contract/ids.ts'
import type { Assignee, ErrorAnnotation } from '../../../src-shared/contract/tasks.ts'
import type { WorkflowState } from '../../../src-shared/contract/workflow-definition.ts'
import { forwardOf, roleOf, workStateOf, type Workflow } from '../../domain/workflow/graph.ts'

export interface ClaimFacts {
  readonly workflow: Workflow
  readonly status: string
  readonly archived: boolean
  readonly entry_barrier: boolean
  readonly roles: Readonly<Record<string, Assignee>>
  readonly error_annotation: ErrorAnnotation | null
  readonly has_open_execution: boolean
  /** The workspace was reset, so a blocked task may start over. */
  readonly was_reset: boolean
  readonly claimant: Assignee
  readonly agent_paused: boolean
  readonly project_paused: boolean
  /** Why this machine can't contain the agent as its configuration says. */
  readonly uncontainable: string | null
  /** Dependencies that are not done, each with the person or agent who last submitted it. */
  readonly open_dependencies: readonly {
    readonly id: string
    readonly context_holder: string | null
    readonly submitted: boolean
  }[]
  /** Of a task whose branch is still to begin on that of another: that one, if it is not submitted. */
  readonly unsubmitted_lower: { readonly id: TaskId; readonly ref: string } | null
  /** The parent's workspace of an ordered subtask: it must exist, and the parent must have a coder. */
  readonly parent_workspace: 'not_needed' | 'ready' | 'missing'
  /** Another task's execution uses the workspace, and the claimant does not want to wait. */
  readonly workspace_taken: boolean
}

export interface ClaimPlan {
  /** The states that the task passes through, with one audit entry each; empty for a follow-up in the same state. */
  readonly path: readonly string[]
  /** The role that the claimant gets. */
  readonly role: string
  /** The role whose execution starts: that of the state in which the task ends up. */
  readonly works_as: string
}

/** Decides a claim: returns the plan or a refusal. The guards run in the order of the specification. */
export function planClaim(facts: ClaimFacts): ClaimPlan | Refusal {
  const { workflow } = facts
  const state = workflow.states.get(facts.status)
  if (!state) return refuse('not_claimable', `The workflow has no state ${facts.status}; move the task first.`)
  if (state.kind === 'terminal') return refuse('task_terminal', 'This task is finished. Create a new one.')
  if (facts.agent_paused) return refuse('agent_paused', 'This agent is paused. Resume it, or choose another.')
  if (facts.project_paused && facts.claimant.type === 'agent') {
    return refuse('project_paused', 'The project is paused. Resume it to let agents start.')
  }
  const claimant = `${facts.claimant.type}:${facts.claimant.id}`
  const blocking = facts.open_dependencies.filter((one) => !(one.submitted && one.context_holder === claimant))
  if (blocking.length > 0) {
    return refuse('dependency_gate', 'This task depends on unfinished tasks. Finish them, or remove the dependency.', {
      depends_on: blocking.map((one) => one.id),
    })
  }
  if (facts.unsubmitted_lower) return stackClaimGate(facts.unsubmitted_lower)
  if (facts.archived) return refuse('not_claimable', 'The task is archived. Unarchive it first.')
  if (facts.has_open_execution) return refuse('already_claimed', 'Someone is already working on this task.')
  if (facts.uncontainable !== null) return refuse('containment_unavailable', facts.uncontainable)
  const plan = planPath(facts, state)
  return 'path' in plan ? (checkWorkspace(facts) ?? plan) : plan
}

function checkWorkspace(facts: ClaimFacts): Refusal | null {
  if (facts.parent_workspace === 'missing') {
    return refuse('PARENT_WORKSPACE_REQUIRED', "This task uses its parent's worktree. Start the parent first.")
  }
  return facts.workspace_taken ? workspaceLocked : null
}

/** The task's branch starts from one whose work is not submitted yet. */
function stackClaimGate({ id, ref }: { readonly id: TaskId; readonly ref: string }): Refusal {
  return refuse(
    'dependency_gate',
    `This task begins on the branch of ${ref}, which isn't submitted yet. Wait for it, or take this task off the stack.`,
    { stacked_on: id },
  )
}

/** Another run uses the worktree. */
export const workspaceLocked: Refusal = {
  code: 'workspace_locked',
  message: 'Another run is using this worktree. Stop it, wait, or claim with lock_policy "wait".',
}

/** Returns the refusal to add to a state that holds these tasks; null while there is room. */
export function wipRefusal({ name, label, wip_limit }: WorkflowState, tasks: readonly TaskId[]): Refusal | null {
  if (wip_limit === undefined || tasks.length < wip_limit) return null
  return {
    code: 'wip_limit',
    message: `${label} is full (${tasks.length} of ${wip_limit}). Finish a task there, or claim with lock_policy "wait".`,
    details: { state: name, limit: wip_limit, tasks: [...tasks] },
  }
}

/** The entry's steps must be done first, whether they are running or failed. */
const stillEntering: Refusal = {
  code: 'entry_barrier',
  message: "The task's hooks haven't finished. Wait; if one failed, retry or skip it.",
}

/** Returns whether a task counts as submitted in a state: one between its work and its end. */
export function isSubmitted(workflow: Workflow, status: string): boolean {
  const seen = new Set<string>()
  const work = workStateOf(workflow, workflow.queue)
  for (
    let state = work && forwardOf(workflow, work);
    state && !seen.has(state.name);
    state = forwardOf(workflow, state)
  ) {
    if (state.name === status) return state.kind !== 'terminal' && state.kind !== 'active'
    seen.add(state.name)
  }
  return false
}

function planPath(facts: ClaimFacts, state: WorkflowState): ClaimPlan | Refusal {
  const { workflow } = facts
  if (state.kind === 'backlog' || state.kind === 'initial') return forwardPath(facts, state, [])
  if (state.kind === 'active') {
    const role = roleOf(state) ?? 'assignee'
    const holder = facts.roles[role]
    if (holder && (holder.type !== facts.claimant.type || holder.id !== facts.claimant.id)) {
      return refuse('already_claimed', `The role ${role} is already assigned. Reassign it first.`)
    }
    return facts.entry_barrier ? stillEntering : { path: [], role, works_as: role }
  }
  if (state.name === workflow.blocked?.name && facts.was_reset)
    return forwardPath(facts, workflow.queue, [workflow.queue.name])
  return refuse('not_claimable', `A task in ${state.label} can't be claimed.`, { status: state.name })
}

function forwardPath(facts: ClaimFacts, from: WorkflowState, before: readonly string[]): ClaimPlan | Refusal {
  const { workflow, roles, claimant } = facts
  const work = workStateOf(workflow, from)
  const role = work && roleOf(work)
  if (!work || !role) return refuse('not_claimable', 'No working state can be reached from here.')
  const holder = roles[role]
  if (holder && (holder.type !== claimant.type || holder.id !== claimant.id)) {
    return refuse('already_claimed', `The role ${role} is already assigned. Reassign it first.`)
  }
  if (facts.entry_barrier) return stillEntering
  let state = forwardOf(workflow, from)
  while (state && state.name !== work.name) {
    const stop = roleOf(state)
    if (stop !== null && roles[stop]) return { path: [...before, state.name], role, works_as: stop }
    state = forwardOf(workflow, state)
  }
  return { path: [...before, work.name], role, works_as: role }
}

function refuse(code: Refusal['code'], message: string, details?: Refusal['details']): Refusal {
  return details ? { code, message, details } : { code, message }
}
