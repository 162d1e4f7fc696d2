import type { ErrorAnnotation } from '../../src-shared/contract/tasks.ts'
import { isRefusal } from '../domain/refusal.ts'
import { forwardOf, hasTrait, isDone, type Workflow } from '../domain/workflow/graph.ts'
import type { WorkflowState } from '../../src-shared/contract/workflow-definition.ts'
import { notify } from '../core/notify.ts'
import { PushError } from '../ports/branch-pusher.ts'
import { ForgeError } from '../ports/forges.ts'
import type { IntegrationRecord } from '../ports/issue-trackers.ts'
import type { PullRequestRecord } from '../ports/pull-request-queries.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { WorkspaceError } from '../ports/workspace-error.ts'
import { planDeletion } from './delete-branch.ts'
import { retargetAbove } from './follow-stack.ts'
import { savePull } from './pull-records.ts'
import type { PullRequestDeps } from './pull-request-ground.ts'
import { addressOf } from './push-work.ts'

/**
 * Completes a task whose pull request was merged at the forge: the local base follows, and the task goes
 * past its gate, unless there is work that the merge hasn't.
 */
export async function followMerge(
  deps: PullRequestDeps,
  connection: IntegrationRecord,
  record: PullRequestRecord,
  signal: AbortSignal,
): Promise<void> {
  const { context } = deps
  const { read } = context.store
  const task = read.tasks.get(record.task_id)
  if (!task) return
  await retargetAbove(deps, connection, record, signal)
  const moved = await followBase(deps, connection, record, task, signal)
  const isNewer = await hasNewerWork(deps, record, task, signal)
  context.feed.commit((tx) => {
    const current = tx.pull_requests.of(task.id)
    const now = tx.tasks.get(task.id)
    if (current?.number !== record.number || !now) return
    savePull(deps, tx, { ...current, settled: true })
    planDeletion(deps, tx, connection, current)
    const workflow = deps.transitions.workflowOf(tx, now)
    const to = afterMerge(workflow)
    // Without such a gate it is only shown; a finished task stays finished.
    if (!to || workflow.states.get(now.status)?.kind === 'terminal') return
    if (isNewer) {
      const annotation = mergedWithout(record)
      tx.saveTask({ ...now, error_annotation: annotation })
      notify(context, tx, now, { event_type: 'pull_request.needs_you', body: annotation.message })
      return
    }
    const reason = `#${record.number} was merged${record.merge_commit === null ? '' : ` as ${record.merge_commit.slice(0, 12)}`}.${moved}`
    const result = deps.transitions.apply(tx, now, {
      to: to.name,
      cause: 'pull_merged',
      triggered_by: 'system',
      version: null,
      reason,
      checked: [],
      patch: { error_annotation: null },
    })
    if (isRefusal(result))
      context.log.warn({ task_id: task.id, refusal: result }, 'a merged task could not be completed')
  })
  deps.worker.wake(task.id)
}

/** Returns the state that a merged pull request leads to; null where the workflow has no gate for pull requests. */
export function afterMerge(workflow: Workflow): WorkflowState | null {
  const gate = [...workflow.states.values()].find((state) => hasTrait(workflow, state, 'awaits_pull_request'))
  return gate ? forwardOf(workflow, gate) : null
}

const mergedWithout = ({ number }: PullRequestRecord): ErrorAnnotation => ({
  type: 'pull_request_merged',
  message: `#${number} was merged, and this task has work that it hasn't. Finish without it (it is kept as a rescue), or open a new pull request.`,
  recovery_actions: ['finish', 'new_pull_request'],
})

/** Fetches the target and moves the local base there, if that is a fast-forward. Returns what people are told, or ''. */
export async function followBase(
  deps: PullRequestDeps,
  connection: IntegrationRecord,
  record: PullRequestRecord,
  task: TaskRecord,
  signal: AbortSignal,
): Promise<string> {
  const { context, worktrees } = deps
  const workspace = worktrees.of(task)
  if (!workspace || workspace.base_branch !== record.target) return ''
  const { repo_path, base_branch } = workspace
  try {
    const repository = await context.forges.repository(connection, { signal })
    const there = { repository, repo_path, fork: null, remote: null }
    const address = await addressOf(deps, connection, there, signal)
    if ('code' in address) return ` ${base_branch} was not fetched: ${address.message}`
    const wanted = { ...address, branch: record.target, into_ref: `refs/copse/targets/${record.target}` }
    const tip = await context.pusher.fetch(wanted, { signal })
    if (tip === null) return ` ${base_branch} is gone at the forge.`
    const result = await context.target.fastForward({ repo_path, base_branch, to: tip }, { signal })
    if (result.kind === 'moved') return ''
    if (result.kind === 'dirty')
      return ` ${base_branch} here stays behind: ${result.files.slice(0, 5).join(', ')} have changes. Pull it when they are away.`
    return ` ${base_branch} here stays behind: ${result.why}`
  } catch (error) {
    if (signal.aborted) throw error
    if (!(error instanceof PushError) && !(error instanceof ForgeError) && !(error instanceof WorkspaceError))
      throw error
    return ` ${base_branch} here stays behind: ${error.message}`
  }
}

/** Returns whether there is work that the merged pull request hasn't, or may soon be: a run goes on. */
async function hasNewerWork(
  { context, worktrees, transitions }: PullRequestDeps,
  { head }: PullRequestRecord,
  task: TaskRecord,
  signal: AbortSignal,
): Promise<boolean> {
  const { read } = context.store
  if (isDone(transitions.workflowOf(read, task), task.status)) return false
  if (read.executions.openOfTask(task.id).length > 0) return true
  const workspace = worktrees.of(task)
  if (!workspace || workspace.status === 'creating' || workspace.status === 'cleaned') return false
  return await worktrees.look(workspace, async (ref) => {
    const work = await context.places.of(task.id).work.work(ref, { signal })
    if (work === null) return false
    if (work.head !== head) return true
    return (await context.target.treeOf(ref.repo_path, head, { signal })) !== work.tree
  })
}
