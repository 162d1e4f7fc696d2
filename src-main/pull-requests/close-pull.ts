import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { Tx } from '../core/event-feed.ts'
import { isRefusal } from '../domain/refusal.ts'
import { bindBeforeSending } from '../integrations/secret-bindings.ts'
import type { IntegrationRecord } from '../ports/issue-trackers.ts'
import type { PullRequestRecord } from '../ports/pull-request-queries.ts'
import { writingConnectionOf } from './connection.ts'
import { refusalOf } from './forge-errors.ts'
import { saveChange } from './pull-records.ts'
import type { PullRequestDeps } from './pull-request-ground.ts'
import { isOpenAt } from './rules/pull-states.ts'
import { closeThere } from './send-intents.ts'
import { writeIntent } from './write-intent.ts'

interface OpenPull {
  readonly record: PullRequestRecord
  readonly connection: IntegrationRecord
}

/** Returns a task's open pull request; null: there is none to close. */
function findOpen({ context }: PullRequestDeps, task_id: TaskId): OpenPull | Refusal | null {
  const { read } = context.store
  const record = read.pull_requests.of(task_id)
  if (record === null || !isOpenAt(record)) return null
  const connection = writingConnectionOf(read, record)
  return isRefusal(connection) ? connection : { record, connection }
}

/**
 * Returns what writes down that a task's pull request is to be closed, in the transaction that cancels or archives the
 * task: neither a kill nor a forge that fails loses it.
 */
export function closeIntent(
  deps: PullRequestDeps,
  task_id: TaskId,
  triggered_by: string,
): { readonly write: (tx: Tx) => void } | Refusal {
  const found = findOpen(deps, task_id)
  if (found !== null && isRefusal(found)) return found
  return {
    write: (tx) => {
      if (found === null) return
      const { number, project_id } = found.record
      const intent = { kind: 'close', number } as const
      writeIntent(deps.context, tx, { task_id, project_id, intent, key: `close:${number}`, triggered_by })
    },
  }
}

/**
 * Closes the pull request of a task that is to be deleted. What is written down goes with its task, so this comes first,
 * and a forge that fails keeps the task.
 */
export async function closeBeforeDeletion(
  deps: PullRequestDeps,
  task_id: TaskId,
  signal: AbortSignal,
): Promise<Refusal | null> {
  const found = findOpen(deps, task_id)
  if (found === null || isRefusal(found)) return found
  const { record, connection } = found
  try {
    bindBeforeSending(deps.context, connection)
    saveChange(deps, record, await closeThere(deps, connection, record.number, signal))
    return null
  } catch (error) {
    return refusalOf(error)
  }
}
