import type { Refusal } from '../../src-shared/contract/errors.ts'
import { workspaceOwner } from '../core/workspace-of.ts'
import { checkJudged } from '../domain/review/judged-work.ts'
import { isReviewGate } from '../domain/workflow/graph.ts'
import type { BranchRef } from '../ports/branch-ref.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { vouchingReview } from '../transitions/review-attempts.ts'
import { commitMessage, keepMessage } from '../workspaces/commit-message.ts'
import { lookAtWork } from '../workspaces/look-at-work.ts'
import { settleElsewhere } from '../workspaces/work-elsewhere.ts'
import type { PullRequestDeps } from './pull-request-ground.ts'

export interface WorkToPush {
  /** A commit of exactly the judged tree. */
  readonly commit: string
  readonly ref: BranchRef
  /** The commands of the review that passed. */
  readonly checks: readonly string[]
}

/** Returns the work that may leave this machine: what the last review judged; without a review gate, what is there. */
export async function workToPush(
  { context, worktrees, transitions }: PullRequestDeps,
  task: TaskRecord,
  signal: AbortSignal,
): Promise<WorkToPush | Refusal> {
  const { read } = context.store
  if (workspaceOwner(read, task).id !== task.id) return nothing("This task works on its parent's branch.")
  const workspace = worktrees.of(task)
  if (!workspace) return nothing('This task never had a worktree.')
  const workflow = transitions.workflowOf(read, task)
  const judged = vouchingReview(read, task)
  if (judged === null && [...workflow.states.values()].some((state) => isReviewGate(workflow, state))) {
    return { code: 'review_not_ready', message: 'Pass the review first: nothing is pushed before it.' }
  }
  if (judged?.empty === true) return nothing('The review found nothing changed.')
  const ref = await worktrees.ref(workspace)
  const elsewhere = await settleElsewhere(context, task, ref, signal)
  if (elsewhere.kind !== 'clear') {
    const message = elsewhere.kind === 'held' ? elsewhere.annotation.message : elsewhere.feedback
    return { code: 'review_not_ready', message }
  }
  const found = await lookAtWork({ context, worktrees }, task, { seen: null, judged }, signal)
  const other = checkJudged({ ...found, by_person: false })
  if (other) return other
  if (!found.work) return nothing('The branch of this task is gone.')
  const message = commitMessage(task, keepMessage)
  const commit = await context.places.of(task.id).work.commitWork(ref, found.work, message, { signal })
  if (commit === workspace.base_commit) return nothing('The branch has no commits of its own.')
  const checks =
    judged === null ? [] : judged.step_results.filter((one) => one.exit_code === 0).map((one) => one.command)
  return { commit, ref, checks }
}

const nothing = (message: string): Refusal => ({ code: 'nothing_to_push', message })
