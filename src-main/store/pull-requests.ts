import { eq } from 'drizzle-orm'
import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { PullRequestRef } from '../../src-shared/contract/pull-requests.ts'
import type { Database } from './database-type.ts'
import { cachedQuery } from './query-cache.ts'
import { prepareAll, prepareGet, prepareUpsert } from './prepared-statements.ts'
import { forgeIntents, pullRequests } from './schema/pull-requests.ts'
import type { ForgeIntentQueries, PullRequestQueries } from '../ports/pull-request-queries.ts'

/** Creates the queries of tasks' pull requests. */
export function createPullRequestQueries(db: Database): PullRequestQueries {
  const byNumber = prepareAll(db, pullRequests, 'WHERE project_id = ? AND number = ? ORDER BY task_id DESC LIMIT 1')
  const live = prepareAll(db, pullRequests, `WHERE settled = 0 ORDER BY next_poll_at`)
  // Every task that is shown asks for it, so it reads three columns and not the whole row.
  const ref = db.$client.prepare<[TaskId], PullRequestRef>(
    'SELECT number, url, state FROM pull_requests WHERE task_id = ?',
  )
  return {
    of: prepareGet(db, pullRequests, pullRequests.task_id),
    refOf: cachedQuery(db, pullRequests, (task_id: TaskId) => ref.get(task_id) ?? null),
    byNumber: (project_id, number) => byNumber(project_id, number)[0] ?? null,
    live: () => live(),
    put: prepareUpsert(db, pullRequests, pullRequests.task_id),
    delete: (task_id) => void db.delete(pullRequests).where(eq(pullRequests.task_id, task_id)).run(),
  }
}

/** Creates the queries of what is to be written to forges. */
export function createForgeIntentQueries(db: Database): ForgeIntentQueries {
  const pending = prepareAll(db, forgeIntents, 'WHERE settled_at IS NULL ORDER BY id')
  const pendingOf = prepareAll(db, forgeIntents, 'WHERE settled_at IS NULL AND task_id = ? ORDER BY id')
  const byKey = prepareAll(db, forgeIntents, 'WHERE task_id = ? AND key = ?')
  return {
    get: prepareGet(db, forgeIntents, forgeIntents.id),
    put: prepareUpsert(db, forgeIntents, forgeIntents.id),
    pending: (task_id) => (task_id === null ? pending() : pendingOf(task_id)),
    byKey: (task_id, key) => byKey(task_id, key)[0] ?? null,
  }
}
