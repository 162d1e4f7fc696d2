import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { PullRequestDeps } from './pull-request-ground.ts'

/** Makes a pull request due, unless its forge asked for a pause. */
export function makeDue({ context }: Pick<PullRequestDeps, 'context'>, task_id: TaskId): void {
  context.feed.commit((tx) => {
    const record = tx.pull_requests.of(task_id)
    if (!record || record.last_error?.reason === 'rate_limited') return
    tx.pull_requests.put({ ...record, next_poll_at: tx.now() })
  })
}
