import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { PullRequestRecord } from '../ports/pull-request-queries.ts'

/**
 * Merges that forges refused though nothing was seen to be missing, as an approval that a rule wants. They are tried
 * again when the pull request changes, when a person or a webhook asks, and else later each time.
 */
export interface RefusedMerges {
  note(record: PullRequestRecord, now: number): void
  isRefused(record: PullRequestRecord, now: number): boolean
  forget(task_id: TaskId): void
}

const longestMs = 3_600_000
const firstMs = 600_000

export function createRefusedMerges(): RefusedMerges {
  const known = new Map<TaskId, { readonly of: string; readonly times: number; readonly until: number }>()
  return {
    note: (record, now) => {
      const of = factsOf(record)
      const former = known.get(record.task_id)
      const times = former?.of === of ? former.times + 1 : 1
      // The first may come from what the forge was about to work out: the next poll tries again.
      const wait = times === 1 ? 0 : Math.min(longestMs, firstMs * 2 ** Math.min(times - 2, 10))
      known.set(record.task_id, { of, times, until: now + wait })
    },
    isRefused: (record, now) => {
      const former = known.get(record.task_id)
      return former?.of === factsOf(record) && former.until > now
    },
    forget: (task_id) => void known.delete(task_id),
  }
}

const factsOf = ({ number, head, state, updated_there, checks }: PullRequestRecord): string =>
  JSON.stringify([number, head, state, updated_there, checks.items.map(({ name, state: of }) => [name, of])])
