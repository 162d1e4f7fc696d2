import type {
  PullRequest,
  PullRequestCheck,
  PullRequestReview,
  PullRequestThread,
} from '../../../src-shared/contract/pull-requests.ts'
import { taskOf } from './task-fixture.ts'

const at = '2026-11-21T09:00:00.000Z'

/** An open pull request that waits for nothing, except for the given fields. */
export function pullOf(more: Partial<PullRequest> = {}): PullRequest {
  return {
    task_id: taskOf(1).id,
    number: 431,
    url: 'https://github.com/acme/shop/pull/431',
    state: 'open',
    target: 'main',
    head: '8e02c4f0000000000000000000000000000000aa',
    mergeable: true,
    merge_commit: null,
    checks: [],
    threads: [],
    reviews: [],
    rounds: 0,
    waiting_for: [],
    below: null,
    synced_at: at,
    last_error: null,
    ...more,
  }
}

export function checkOf(name: string, state: PullRequestCheck['state'], more: Partial<PullRequestCheck> = {}) {
  return { name, state, required: true, url: null, log_tail: null, inherited: false, ...more }
}

export const reviewBy = (author: string, state: PullRequestReview['state']): PullRequestReview => ({ author, state })

/** A thread with one comment for each author; `copse` is ours. */
export function threadOf(id: string, authors: readonly string[], more: Partial<PullRequestThread> = {}) {
  return {
    id,
    path: 'src/a.ts',
    line: 8,
    side: 'new' as const,
    resolved: false,
    outdated: false,
    url: `https://github.com/acme/shop/pull/431#${id}`,
    comments: authors.map((author, index) => ({
      id: `${id}-${index}`,
      author,
      body: 'Why?',
      created_at: at,
      ours: author === 'copse',
    })),
    ...more,
  }
}
