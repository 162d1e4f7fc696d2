import type { TaskId } from '../../../src-shared/contract/ids.ts'
import type { PullRequestState } from '../../../src-shared/contract/pull-requests.ts'
import type { StackPhase } from '../../stacks/rules/stack.ts'
import { isOpenAt } from './pull-states.ts'

/** A task below another in a stack, as the pull request of the upper one needs it. */
export interface TaskBelow {
  readonly id: TaskId
  readonly ref: string
  readonly phase: StackPhase
  readonly pull: {
    readonly number: number
    readonly state: PullRequestState
    readonly branch: string
    readonly pushed: string | null
  } | null
}

interface StackedFacts {
  /** The next one first. */
  readonly below: readonly TaskBelow[]
  /** The task on whose branch the branch lies here. */
  readonly lies_on: TaskId | null
  /** The pull request of that task was merged. */
  readonly left_merged: boolean
  /** The branches are in a fork, whose branches can't be targets. */
  readonly from_fork: boolean
  readonly base_branch: string
}

export interface StackedTarget {
  /** The task below whose work isn't in the base branch of the forge; null: none. */
  readonly lower: TaskBelow | null
  /** The branch that a pull request goes to; null: the task below has no open one. */
  readonly branch: string | null
  /** The branch lies here on what it goes to there, so that a pull request shows its own commits alone. */
  readonly in_place: boolean
  /** An open pull request may be pointed there now. */
  readonly may_follow: boolean
}

/** Decides where the pull request of a task goes: to the branch of the task below, until that is merged. */
export function stackedTarget(facts: StackedFacts): StackedTarget {
  const { lies_on, left_merged } = facts
  const lower = facts.below.find(isOpenBelow) ?? null
  const in_place = lies_on === (lower?.id ?? null)
  // A branch that is merged may be deleted at any time, and its forge then closes what goes to it.
  const may_follow = in_place || left_merged
  if (lower === null) return { lower, branch: facts.base_branch, in_place, may_follow }
  const isTarget = !facts.from_fork && lower.pull !== null && isOpenAt(lower.pull)
  return { lower, branch: isTarget ? (lower.pull?.branch ?? null) : null, in_place, may_follow }
}

/** A task that has work newer than its merged pull request isn't done yet; the forge has the rest. */
export const isOpenBelow = ({ phase, pull }: TaskBelow): boolean =>
  (phase === 'open' || phase === 'submitted') && pull?.state !== 'merged'
