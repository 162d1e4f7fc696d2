import type { Tx } from '../core/event-feed.ts'
import type { Pull } from '../ports/forges.ts'
import type { PullRequestRecord } from '../ports/pull-request-queries.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { PullRequestDeps } from './pull-request-ground.ts'
import type { StackDeps } from './stacked-pull.ts'
import { toPullRequest } from './to-pull-request.ts'

/** Writes a pull request, and announces it and its task. */
export function savePull(deps: StackDeps, tx: Tx, record: PullRequestRecord): PullRequestRecord {
  const before = tx.pull_requests.of(record.task_id)
  const isSameHead = before?.number === record.number && before.head === record.head
  const saved = { ...record, head_since: isSameHead ? before.head_since : tx.now(), updated_at: tx.now() }
  tx.pull_requests.put(saved)
  const { task_id, project_id } = record
  tx.emit('pull_request.updated', { project_id, task_id, pull_request: toPullRequest(deps, tx, saved) })
  const task = tx.tasks.get(task_id)
  const isShown = before?.number === saved.number && before.state === saved.state && before.url === saved.url
  if (task && !isShown) tx.saveTask(task)
  return saved
}

/** Returns the fields that the forge tells of a pull request itself. */
export function fieldsOf(pull: Pull): Pick<PullRequestRecord, ToldFields> {
  const { number, url, state, title, target, head, mergeable, merge_commit, queued, auto_merge } = pull
  return { number, url, state, title, target, head: head.commit, mergeable, merge_commit, queued, auto_merge }
}

type ToldFields =
  | 'number'
  | 'url'
  | 'state'
  | 'title'
  | 'target'
  | 'head'
  | 'mergeable'
  | 'merge_commit'
  | 'queued'
  | 'auto_merge'

const neverRead = { items: [], read_at: null, error: null }

/** Returns the record of a pull request that was just opened or found. */
export function newPullRecord(
  now: string,
  { id, project_id }: Pick<TaskRecord, 'id' | 'project_id'>,
  pull: Pull,
  { repository, branch, pushed }: Pick<PullRequestRecord, 'repository' | 'branch' | 'pushed'>,
): PullRequestRecord {
  return {
    ...fieldsOf(pull),
    task_id: id,
    project_id,
    branch,
    repository,
    pushed,
    head_since: now,
    checks: { ...neverRead, seen: null },
    threads: neverRead,
    reviews: neverRead,
    comments: neverRead,
    rounds: 0,
    rounds_since: null,
    given: [],
    settled: false,
    synced_at: null,
    read_all_at: null,
    updated_there: null,
    last_error: null,
    next_poll_at: now,
    failures: 0,
    created_at: now,
    updated_at: now,
  }
}

/** Saves what the forge answered to a change; null if the task has another pull request by now, or none. */
export function saveChange(
  deps: Pick<PullRequestDeps, 'context' | 'transitions'>,
  { task_id, number }: Pick<PullRequestRecord, 'task_id' | 'number'>,
  pull: Pull,
): PullRequestRecord | null {
  return deps.context.feed.commit((tx) => {
    const current = tx.pull_requests.of(task_id)
    return current?.number === number
      ? savePull(deps, tx, { ...current, ...fieldsOf(pull), next_poll_at: tx.now() })
      : null
  })
}
