import type { PullRequestState, PullRequestWait } from '../../../src-shared/contract/pull-requests.ts'

interface WaitingFacts {
  readonly state: PullRequestState
  readonly mergeable: boolean | null
  readonly queued: boolean
  readonly checks: readonly { readonly state: string; readonly required: boolean | null }[]
  readonly threads: readonly { readonly resolved: boolean; readonly ours_last: boolean }[]
  readonly reviews: readonly { readonly state: string }[]
  /** The task below in its stack is merged first. */
  readonly stacked: boolean
  /** The commit at the forge is the one whose work was judged here. */
  readonly judged: boolean
  /** The forge has been asked, and has answered everything. */
  readonly known: boolean
}

/** Returns what a pull request waits for, what a person can do about first. A merged or closed one waits for nothing. */
export function waitingFor(facts: WaitingFacts): readonly PullRequestWait[] {
  if (facts.state === 'merged' || facts.state === 'closed') return []
  const waits: readonly (readonly [PullRequestWait, boolean])[] = [
    ['conflict', facts.mergeable === false],
    ['review', !facts.judged],
    ['checks', facts.checks.some(isOpenCheck)],
    ['threads', facts.threads.some(({ resolved, ours_last }) => !resolved && !ours_last)],
    ['approval', lacksApproval(facts.reviews)],
    ['draft', facts.state === 'draft'],
    ['stack', facts.stacked],
    ['queue', facts.queued],
    ['forge', !facts.known || facts.mergeable === null],
  ]
  return waits.filter(([, holds]) => holds).map(([wait]) => wait)
}

/** A check whose need isn't known counts as required. */
const isOpenCheck = ({ state, required }: WaitingFacts['checks'][number]): boolean =>
  required !== false && state !== 'passed' && state !== 'skipped'

function lacksApproval(reviews: WaitingFacts['reviews']): boolean {
  const has = (state: string) => reviews.some((review) => review.state === state)
  return has('changes_requested') || (has('requested') && !has('approved'))
}
