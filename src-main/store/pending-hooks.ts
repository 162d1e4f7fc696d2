import type { Database } from './database-type.ts'
import { prepareAll, prepareGet } from './prepared-statements.ts'
import { pendingHooks } from './schema/work.ts'
import type { PendingHookQueries } from '../ports/effect-queries.ts'

/** Creates the queries of the outbox of lifecycle hooks. */
export function createPendingHookQueries(db: Database): PendingHookQueries {
  const add = db.$client.prepare<[string, string]>('INSERT INTO pending_hooks (task_id, data) VALUES (?, ?)')
  const update = db.$client.prepare<[string, number]>('UPDATE pending_hooks SET data = ? WHERE id = ?')
  const remove = db.$client.prepare<[number]>('DELETE FROM pending_hooks WHERE id = ?')
  return {
    add: (task_id, data) => void add.run(task_id, JSON.stringify(data)),
    update: (id, data) => void update.run(JSON.stringify(data), id),
    remove: (id) => void remove.run(id),
    get: prepareGet(db, pendingHooks, pendingHooks.id),
    ofTask: prepareAll(db, pendingHooks, 'WHERE task_id = ? ORDER BY id'),
    pendingTasks: () =>
      db
        .selectDistinct({ task_id: pendingHooks.task_id })
        .from(pendingHooks)
        .all()
        .map((row) => row.task_id),
  }
}
