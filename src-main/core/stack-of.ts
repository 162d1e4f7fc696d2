import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { HookOutcome } from '../../src-shared/contract/tasks.ts'
import { below, openBelow, stackLandingGate, type StackPhase } from '../stacks/rules/stack.ts'
import { cascadeOnPass, hasTrait, type Workflow } from '../domain/workflow/graph.ts'
import type { Tx } from './event-feed.ts'
import type { StackPlace } from '../ports/stack-place.ts'
import type { ProjectQueries, RepoRecord } from '../ports/project-queries.ts'
import type { TaskQueries, TaskRecord } from '../ports/task-queries.ts'
import type { WorkspaceQueries, WorkspaceRecord } from '../ports/workspace-queries.ts'
import { refOf } from './views.ts'
import { workspaceOf } from './workspace-of.ts'

type Reads = { readonly tasks: TaskQueries; readonly workspaces: WorkspaceQueries }

/** The task below another in a stack, as long as it has neither landed nor been given up. */
export interface LowerTask {
  readonly task: TaskRecord
  /** `SHO-42`. */
  readonly ref: string
  readonly phase: Extract<StackPhase, 'open' | 'submitted'>
  /** Its workspace, once its branch exists. */
  readonly workspace: WorkspaceRecord | null
}

/** Returns the task on whose branch another is to lie; null for the base branch. */
export function lowerTask(
  q: Reads & { readonly projects: ProjectQueries },
  workflow: Workflow,
  task: Pick<TaskRecord, 'id' | 'stacked_on'>,
): LowerTask | null {
  if (task.stacked_on === null) return null
  const found = openBelow(workflow, task, q.tasks.get)
  if (!found) return null
  const workspace = workspaceOf(q, found.task)
  const isMade = workspace !== null && workspace.base_commit !== null
  return { ...found, ref: refOf(q, found.task), workspace: isMade ? workspace : null }
}

/** Where a branch that begins now begins, or one that is brought along goes. */
export type StackBase = Pick<WorkspaceRecord, 'base_branch' | 'repo_path'> & { readonly stack: StackPlace | null }

/** Returns the base of a task's branch: the branch of the task below it, else the one that the stack lands on. */
export function stackBase(
  q: Reads & { readonly projects: ProjectQueries },
  workflow: Workflow,
  task: Pick<TaskRecord, 'id' | 'stacked_on'>,
  repo: RepoRecord,
): StackBase {
  const none = { conflict: null, trouble: null, untested: null, moving: null }
  const root = rootBranch(q, task) ?? repo.default_branch
  const lower = lowerTask(q, workflow, task)
  if (!lower?.workspace) return { base_branch: root, repo_path: repo.path, stack: null }
  const { branch, repo_path } = lower.workspace
  return { base_branch: branch, repo_path, stack: { ...none, on: lower.task.id, base_branch: root } }
}

/** Returns the branch that a stack lands on, as the nearest task below that has a branch says; null where none has. */
export function rootBranch(q: Reads, task: Pick<TaskRecord, 'id' | 'stacked_on'>): string | null {
  for (const lower of below(task, q.tasks.get)) {
    const workspace = workspaceOf(q, lower)
    if (workspace) return landsOn(workspace)
  }
  const ownWorkspace = q.workspaces.byTask(task.id)
  return ownWorkspace === null || ownWorkspace.stack === null ? null : landsOn(ownWorkspace)
}

/** Returns the branch that a task's work lands on at last. */
export const landsOn = ({ stack, base_branch }: Pick<WorkspaceRecord, 'stack' | 'base_branch'>): string =>
  stack !== null && stack.on !== null ? stack.base_branch : base_branch

/** Refuses the landing of a task whose branch is to lie, or still lies, on another's: it would take that along. */
export function stackGate(
  q: Reads & { readonly projects: ProjectQueries },
  workflow: Workflow,
  task: Pick<TaskRecord, 'id' | 'stacked_on'>,
): Refusal | null {
  const lower = lowerTask(q, workflow, task)
  if (lower) return stackLandingGate({ id: lower.task.id, ref: lower.ref })
  const workspace = q.workspaces.byTask(task.id)
  const lies_on = workspace?.stack?.on ?? null
  if (workspace === null || lies_on === null) return null
  const message = `${workspace.branch} still lies on ${workspace.base_branch}. It is brought onto the base branch first; try again once it is.`
  return { code: 'dependency_gate', message, details: { stacked_on: lies_on } }
}

/** Returns whether a cascade after a passed review would land the task before the one below it. */
export function cascadeWaitsForStack(
  q: Reads & { readonly projects: ProjectQueries },
  workflow: Workflow,
  task: Pick<TaskRecord, 'id' | 'stacked_on' | 'status'>,
): boolean {
  const gate = workflow.states.get(task.status)
  const to = gate && workflow.states.get(cascadeOnPass(workflow, gate) ?? '')
  return to !== undefined && hasTrait(workflow, to, 'merges') && stackGate(q, workflow, task) !== null
}

/** In the timeline of a task whose cascade waits until the task below it has landed. */
export const waitsForStack = 'stacked'

export function noteCascadeWaits(tx: Tx, task: TaskRecord): void {
  noteOnEntry(tx, task, { action: 'cascade', outcome: 'skipped', reason: waitsForStack })
}

/** Adds a note to the transition into the current state. */
export function noteOnEntry(
  tx: Tx,
  task: TaskRecord,
  note: Pick<HookOutcome, 'action' | 'outcome'> & { readonly reason: string },
): void {
  const entry = tx.transitions.last(task.id)
  if (!entry) return
  const hook: HookOutcome = { phase: 'after_enter', duration_ms: 0, ...note }
  tx.transitions.setHooks(entry.id, [...entry.hooks, hook])
  tx.emit('hook.finished', { project_id: task.project_id, task_id: task.id, transition_id: entry.id, hook })
}
