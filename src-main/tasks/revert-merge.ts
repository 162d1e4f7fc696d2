import { join } from 'node:path'
import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { AgentId, TaskId, WorkspaceId } from '../../src-shared/contract/ids.ts'
import { hereRunner } from '../../src-shared/contract/runners.ts'
import type { Tx } from '../core/event-feed.ts'
import { refOf, toSettings, toTask } from '../core/views.ts'
import { isRefusal, notFound } from '../domain/refusal.ts'
import { isDone } from '../domain/workflow/graph.ts'
import type { LandingGround } from '../landing/landing-ground.ts'
import type { ProjectRecord } from '../ports/project-queries.ts'
import type { Queries } from '../ports/store.ts'
import type { RevertedMerge } from '../ports/target-mover.ts'
import type { MergeRecord, TaskRecord } from '../ports/task-queries.ts'
import type { WorkspaceRecord } from '../ports/workspace-queries.ts'
import { commitMessage } from '../workspaces/commit-message.ts'
import { branchName } from '../workspaces/rules/branch-name.ts'
import type { ActionDeps, Actor } from './action-services.ts'
import { gateOf } from './gate-of-merge.ts'
import { coderRole } from './roles.ts'
import { createTask } from './rules/create-task.ts'

export interface RevertMergeRequest {
  readonly task_id: TaskId
  readonly reason: string | null
}

type Deps = Omit<ActionDeps, 'context'> & { readonly context: ActionDeps['context'] & LandingGround }

/**
 * Creates a task that reverts the merge of another. Its branch has the revert already and waits at the gate that the
 * other passed; where that conflicts, the coder of the other does it.
 */
export async function revertMerge(
  deps: Deps,
  { task_id, reason }: RevertMergeRequest,
  actor: Actor,
  signal: AbortSignal,
): Promise<TaskRecord | Refusal> {
  const { context, transitions } = deps
  const found = findMerge(deps, context.store.read, task_id)
  if (isRefusal(found)) return found
  const { task: reverted, project, merge, workspace } = found
  const id = context.newId() as TaskId
  const title = revertTitle(reverted.title)
  const branch = branchName(toSettings(project).branch_prefix, title, id)
  const { repo_path } = workspace
  const { base_branch, from, to } = merge
  const message = commitMessage({ id }, `${title}\n\nThis reverts commit ${to}.`)
  const made = await context.target.revertMerge({ repo_path, base_branch, branch, from, to, message }, { signal })
  if (made.kind === 'nothing_to_do')
    return nothing(`${base_branch} no longer has the work of this task, so there is nothing to revert.`)
  const created = context.feed.commit((tx) => {
    const description = describe(tx, found, made, reason)
    const task = addRevert(deps, tx, found, { id, title, description })
    addBranch(deps, tx, task, { repo_path, branch, base_branch, base_commit: made.base_commit })
    const gate = gateOf(tx, transitions.workflowOf(tx, reverted), reverted)
    if (made.kind === 'conflict' || gate === null) return task
    const kind = transitions.workflowOf(tx, task).states.get(gate)?.kind
    const moved = transitions.apply(tx, task, {
      to: gate,
      // The gate's checks run as for any work; without a gate nothing starts by itself.
      cause: kind === 'gate' ? 'cascade' : 'return',
      triggered_by: actor.triggered_by,
      version: null,
      reason,
      checked: [],
    })
    return isRefusal(moved) ? task : moved.task
  })
  if (made.kind === 'conflict') await giveToCoder(deps, created, actor, signal)
  deps.worker.wake(id)
  return context.store.read.tasks.get(id) ?? created
}

interface FoundMerge {
  readonly task: TaskRecord
  readonly project: ProjectRecord
  readonly merge: MergeRecord
  readonly workspace: WorkspaceRecord
}

function findMerge({ transitions }: Deps, q: Queries, id: TaskId): FoundMerge | Refusal {
  const task = q.tasks.get(id)
  const project = task && q.projects.get(task.project_id)
  if (!task || !project) return notFound('task')
  const workspace = q.workspaces.byTask(id)
  const { merge } = task
  const isMerged = isDone(transitions.workflowOf(q, task), task.status) && merge !== null && merge.merged_at !== null
  return isMerged && workspace
    ? { task, project, merge, workspace }
    : nothing('This task has no merge that Copse knows, so there is nothing to revert.')
}

const nothing = (message: string): Refusal => ({ code: 'nothing_to_revert', message })

/** As git names them: the revert of a revert applies the work again. */
function revertTitle(title: string): string {
  const again = /^Revert “(.+)”$/s.exec(title)?.[1]
  return again === undefined ? `Revert “${title.slice(0, 480)}”` : `Reapply “${again}”`
}

function describe(
  q: Queries,
  { task, merge: { base_branch, to } }: FoundMerge,
  made: Exclude<RevertedMerge, { kind: 'nothing_to_do' }>,
  reason: string | null,
): string {
  const what = `Take back what ${refOf(q, task)} merged into ${base_branch} as ${to.slice(0, 12)}.`
  const why = reason === null ? [] : [reason]
  if (made.kind === 'reverted') return [what, ...why].join('\n\n')
  const files = made.files.slice(0, 20).join(', ')
  const how = `Reverting it conflicts in ${files}. Run \`${made.command}\`, resolve the conflicts so that later work stays, and commit.`
  return [what, ...why, how].join('\n\n')
}

function addRevert(
  { context }: Deps,
  tx: Tx,
  { task: reverted, project }: FoundMerge,
  own: Pick<TaskRecord, 'id' | 'title' | 'description'>,
): TaskRecord {
  const { repo_id, review_config, roles, labels, priority } = reverted
  const facts = { repo_id, review_config, roles, labels, priority, reverts: reverted.id, ...own }
  const task: TaskRecord = createTask(
    {
      ...facts,
      project_id: project.id,
      status: context.workflows.of(project.workflow_definition).entry.name,
      number: tx.tasks.nextNumber(project.id),
      position: tx.tasks.lastPosition(project.id) + 1,
    },
    tx.now(),
  )
  tx.tasks.add(task)
  tx.emit('task.created', { project_id: project.id, task_id: task.id, task: toTask(tx, task) })
  return task
}

/** Saves the branch of a task whose worktree is made when it is needed. */
function addBranch(
  { context }: Deps,
  tx: Tx,
  { id: task_id, project_id }: TaskRecord,
  branch: Pick<WorkspaceRecord, 'repo_path' | 'branch' | 'base_branch' | 'base_commit'>,
): void {
  tx.workspaces.put({
    ...branch,
    id: context.newId() as WorkspaceId,
    task_id,
    status: 'cleaned',
    runner_id: hereRunner,
    path: join(context.places.of(task_id).workspaceRoot, project_id, task_id),
    stack: null,
    port_base: null,
    cleanup_at: null,
    error: null,
    created_at: tx.now(),
  })
}

/** Starts the coder; where it can't start, the task waits with what is to be done. */
async function giveToCoder(deps: Deps, task: TaskRecord, actor: Actor, signal: AbortSignal): Promise<void> {
  const { context, transitions, claims } = deps
  const role = coderRole(transitions.workflowOf(context.store.read, task))
  const coder = role === null ? undefined : task.roles[role]
  if (coder?.type !== 'agent') return
  const claimant = { type: 'agent', id: coder.id as AgentId } as const
  const triggered_by = `agent:${coder.id}`
  const by_person = actor.agent_id === null
  const claimed = await claims.claim({ task_id: task.id, claimant, triggered_by, by_person, overrides: {} }, signal)
  if (isRefusal(claimed)) context.log.info({ task_id: task.id, code: claimed.code }, 'a revert waits for its coder')
}
