import type { PullRequest, PullRequestThread } from '../../src-shared/contract/pull-requests.ts'
import type { ForgeThread } from '../ports/forges.ts'
import type { PullRequestRecord } from '../ports/pull-request-queries.ts'
import type { Queries } from '../ports/store.ts'
import { isOpenAt } from './rules/pull-states.ts'
import { isOurs, shownText } from './rules/pull-text.ts'
import { waitingFor } from './rules/waiting-for.ts'
import { belowOf, type StackDeps } from './stacked-pull.ts'

/** Returns a pull request as clients see it. */
export function toPullRequest(deps: StackDeps, q: Queries, record: PullRequestRecord): PullRequest {
  const { checks, threads, reviews } = record
  const parts = [checks, threads, reviews]
  const below = isOpenAt(record) ? belowOf(deps, q, record) : null
  const last_error = record.last_error ?? parts.find(({ error }) => error !== null)?.error ?? null
  return {
    task_id: record.task_id,
    number: record.number,
    url: record.url,
    state: record.state,
    target: record.target,
    head: record.head,
    mergeable: record.mergeable,
    merge_commit: record.merge_commit,
    checks: checks.items.map(({ name, state, required, url, log_tail, inherited }) => {
      return { name, state, required, url, log_tail, inherited }
    }),
    threads: threads.items.map(toThread),
    reviews: reviews.items.map(({ author, state }) => ({ author, state })),
    rounds: record.rounds,
    waiting_for: [...waitsOf(record, below !== null)],
    below,
    synced_at: record.synced_at,
    last_error,
  }
}

/** Returns what a pull request waits for. `stacked`: also for the one below it, which what merges asks apart. */
export function waitsOf(record: PullRequestRecord, stacked = false): ReturnType<typeof waitingFor> {
  const { state, mergeable, queued, checks, threads, reviews, head, pushed, last_error, synced_at } = record
  return waitingFor({
    state,
    mergeable,
    queued,
    checks: checks.items,
    threads: threads.items.map((thread) => ({ resolved: thread.resolved, ours_last: isOursLast(thread) })),
    reviews: reviews.items,
    stacked,
    // Copse pushes judged work alone.
    judged: pushed === head,
    known: synced_at !== null && last_error === null,
  })
}

const isOursLast = ({ comments }: ForgeThread): boolean => isOurs(comments.at(-1)?.body ?? '')

function toThread({ comments, ...thread }: ForgeThread): PullRequestThread {
  return {
    ...thread,
    comments: comments.map(({ id, author, body, created_at }) => {
      return { id, author, body: shownText(body), created_at: inMilliseconds(created_at), ours: isOurs(body) }
    }),
  }
}

/** GitHub's times have none. */
function inMilliseconds(time: string): string {
  const date = new Date(time)
  return Number.isNaN(date.getTime()) ? new Date(0).toISOString() : date.toISOString()
}
