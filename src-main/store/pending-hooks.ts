import type { Queries } from '../ports/store.ts'
import type { Database } from './database-type.ts'
import { prepareAll, prepareGet } from './prepared-statements.ts'
import { occasions } from './schema/work.ts'

/** Creates the queries of the outbox of lifecycle hooks. */
export function createPendingHookQueries(db: Database): Queries['pendingHooks'] {
  const add = db.$client.prepare<[string, string]>('INSERT INTO occasions (task_id, data) VALUES (?, ?)')
  const update = db.$client.prepare<[string, number]>('UPDATE occasions SET data = ? WHERE id = ?')
  const remove = db.$client.prepare<[number]>('DELETE FROM occasions WHERE id = ?')
  return {
    add: (task_id, data) => void add.run(task_id, JSON.stringify(data)),
    update: (id, data) => void update.run(JSON.stringify(data), id),
    remove: (id) => void remove.run(id),
    get: prepareGet(db, occasions, occasions.id),
    ofTask: prepareAll(db, occasions, 'WHERE task_id = ? ORDER BY id'),
    pendingTasks: () =>
      db
        .selectDistinct({ task_id: occasions.task_id })
        .from(occasions)
        .all()
        .map((row) => row.task_id),
  }
}
