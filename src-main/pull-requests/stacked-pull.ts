import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { PullRequestBelow } from '../../src-shared/contract/pull-requests.ts'
import type { Tx } from '../core/event-feed.ts'
import { landsOn } from '../core/stack-of.ts'
import { refOf } from '../core/views.ts'
import type { Workflow } from '../domain/workflow/graph.ts'
import type { IntegrationRecord } from '../ports/issue-trackers.ts'
import type { PullRequestRecord } from '../ports/pull-request-queries.ts'
import type { Queries } from '../ports/store.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { WorkspaceRecord } from '../ports/workspace-queries.ts'
import { below, stackLandingGate, stackPhase } from '../stacks/rules/stack.ts'
import type { PullRequestDeps } from './pull-request-ground.ts'
import { isOpenAt } from './rules/pull-states.ts'
import { writeIntent } from './write-intent.ts'
import { isOpenBelow, stackedTarget, type StackedTarget, type TaskBelow } from './rules/stacked-target.ts'

type Deps = Pick<PullRequestDeps, 'context' | 'transitions'>
export type StackDeps = Pick<PullRequestDeps, 'transitions'>

/** Returns where the pull request of a task goes as its stack is now; null: the task has no branch. */
export function targetOf(
  { transitions }: Deps,
  q: Queries,
  task: TaskRecord,
  { pull_requests: { fork, target_branch } }: IntegrationRecord,
): (StackedTarget & { readonly workspace: WorkspaceRecord }) | null {
  const workspace = q.workspaces.byTask(task.id)
  if (workspace === null) return null
  const workflow = transitions.workflowOf(q, task)
  const lies_on = workspace.stack?.on ?? null
  const target = stackedTarget({
    below: tasksBelow(workflow, q, task),
    lies_on,
    left_merged: lies_on !== null && q.pull_requests.refOf(lies_on)?.state === 'merged',
    from_fork: fork !== null,
    base_branch: target_branch ?? landsOn(workspace),
  })
  return { ...target, workspace }
}

function tasksBelow(workflow: Workflow, q: Queries, task: TaskRecord): readonly TaskBelow[] {
  return below(task, q.tasks.get).map((lower) => ({
    id: lower.id,
    ref: refOf(q, lower),
    phase: stackPhase(workflow, lower.status),
    pull: q.pull_requests.of(lower.id),
  }))
}

/** Returns the task whose work is merged before that of a pull request; null: none. */
export function belowOf(
  { transitions }: StackDeps,
  q: Queries,
  { task_id }: PullRequestRecord,
): PullRequestBelow | null {
  const task = q.tasks.get(task_id)
  if (!task || task.stacked_on === null) return null
  const lower = tasksBelow(transitions.workflowOf(q, task), q, task).find(isOpenBelow)
  if (!lower) return null
  const { id, pull } = lower
  return { task_id: id, number: pull !== null && isOpenAt(pull) ? pull.number : null }
}

/**
 * Returns the target of a task's pull request; refuses while a push would show commits of the task below as its own, or
 * send some that no review has passed yet.
 */
export async function chooseTarget(
  deps: PullRequestDeps,
  task: TaskRecord,
  connection: IntegrationRecord,
  known: PullRequestRecord | null,
  signal: AbortSignal,
): Promise<{ readonly branch: string } | Refusal> {
  const found = targetOf(deps, deps.context.store.read, task, connection)
  if (found === null) return { code: 'nothing_to_push', message: 'This task never had a worktree.' }
  const { lower, branch, in_place, workspace } = found
  // One that is open stays where it is until its branch has been brought along.
  const goes_to = known?.target ?? branch
  if (lower && (goes_to === null || lower.pull === null)) {
    const { fork } = connection.pull_requests
    const what =
      fork === null
        ? 'which has no open pull request. Open that one first, or take this task off the stack.'
        : `and ${fork} is a fork: this pull request can be opened once that task is merged. Or take this task off the stack.`
    return waits(lower.id, `This task is stacked on ${lower.ref}, ${what}`)
  }
  if (known === null && !in_place) {
    const { branch: own, base_branch, stack } = workspace
    const to = lower === null ? 'the base branch' : `the branch of ${lower.ref}`
    return waits(stack?.on ?? lower?.id ?? null, `${own} still lies on ${base_branch}. It is brought onto ${to} first.`)
  }
  if (lower && in_place && !(await hasBase(deps, workspace, lower.pull?.pushed ?? null, signal))) {
    return waits(lower.id, `This task is stacked on newer work of ${lower.ref}, which must be pushed first.`)
  }
  return { branch: goes_to ?? workspace.base_branch }
}

const waits = (stacked_on: TaskRecord['id'] | null, message: string): Refusal => ({
  code: 'dependency_gate',
  message,
  details: { stacked_on },
})

/** Returns whether a refusal is over once the task below has gone on. */
export const isStackWait = ({ code }: Refusal): boolean => code === 'dependency_gate'

/** Returns whether a pushed commit has the one that a branch lies on. */
export async function hasBase(
  { context: { pusher } }: PullRequestDeps,
  { repo_path, base_commit }: WorkspaceRecord,
  pushed: string | null,
  signal: AbortSignal,
): Promise<boolean> {
  if (base_commit === null || pushed === null) return false
  const relation = await pusher.relation(repo_path, base_commit, pushed, { signal })
  return relation === 'same' || relation === 'behind'
}

/** Refuses the merge of a pull request before the one below it: it would take that along, or end in its branch. */
export function checkMergeOrder(deps: Deps, task: TaskRecord, connection: IntegrationRecord): Refusal | null {
  const found = targetOf(deps, deps.context.store.read, task, connection)
  if (found === null) return null
  const { lower, in_place, workspace } = found
  if (lower) return stackLandingGate({ id: lower.id, ref: lower.ref })
  if (in_place) return null
  const { branch, base_branch, stack } = workspace
  return waits(stack?.on ?? null, `${branch} still lies on ${base_branch}. Merge it once it lies on the base branch.`)
}

const key = 'retarget'

/** Remembers the target that Copse has chosen: another one there is a person's, and stays. */
export function noteTarget(
  { context }: Deps,
  tx: Tx,
  { id: task_id, project_id }: Pick<TaskRecord, 'id' | 'project_id'>,
  { from, to, is_there }: { readonly from: string; readonly to: string; readonly is_there: boolean },
): void {
  const intent = { kind: 'retarget', from, to } as const
  const settled_at = is_there ? tx.now() : null
  writeIntent(context, tx, { task_id, project_id, intent, key, triggered_by: 'system', settled_at })
}

/** Returns the target that a pull request is to have instead of the one that Copse gave it; null: none. */
export function newTarget(
  deps: Deps,
  q: Queries,
  record: PullRequestRecord,
  connection: IntegrationRecord,
): { readonly from: string; readonly to: string } | null {
  const task = q.tasks.get(record.task_id)
  const found = task && targetOf(deps, q, task, connection)
  if (!found?.may_follow || found.branch === null) return null
  const known = q.forge_intents.byKey(record.task_id, key)
  if (known?.intent.kind !== 'retarget') return null
  const isSent = known.settled_at !== null
  // While one is to be sent, the forge has what that one comes from.
  const from = isSent ? known.intent.to : known.intent.from
  return record.target === from && found.branch !== from ? { from, to: found.branch } : null
}

/** Writes down that a pull request is to have another target. Returns whether there is something to send. */
export function planRetarget(deps: Deps, record: PullRequestRecord, connection: IntegrationRecord): boolean {
  const { context } = deps
  if (!isOpenAt(record)) return false
  return context.feed.commit((tx) => {
    const current = tx.pull_requests.of(record.task_id)
    if (current?.number !== record.number) return false
    const wanted = newTarget(deps, tx, current, connection)
    const place = { id: current.task_id, project_id: current.project_id }
    if (wanted) noteTarget(deps, tx, place, { ...wanted, is_there: false })
    else keepUp(deps, tx, current, connection)
    return wanted !== null
  })
}

/** The forge itself retargets what goes to a merged branch: then that is what Copse would have chosen. */
function keepUp(deps: Deps, tx: Tx, record: PullRequestRecord, connection: IntegrationRecord): void {
  const task = tx.tasks.get(record.task_id)
  const known = tx.forge_intents.byKey(record.task_id, key)
  if (!task || known?.intent.kind !== 'retarget' || known.intent.to === record.target) return
  const found = targetOf(deps, tx, task, connection)
  if (found?.branch === record.target)
    noteTarget(deps, tx, task, { from: record.target, to: record.target, is_there: true })
}
