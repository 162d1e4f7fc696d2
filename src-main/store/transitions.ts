import { and, eq, inArray, or } from 'drizzle-orm'
import type { Database } from './database-type.ts'
import { prepareAll, prepareGet, prepareUpsert } from './prepared-statements.ts'
import { isRenamed, renamed } from './rename-states.ts'
import { tasks, transitions } from './schema/work.ts'
import type { TransitionQueries } from '../ports/task-queries.ts'

/** Creates the queries of the audit: every transition of every task. */
export function createTransitionQueries(db: Database): TransitionQueries {
  const get = prepareGet(db, transitions, transitions.id)
  const byTask = prepareAll(db, transitions, 'WHERE task_id = ? ORDER BY id')
  const last = prepareAll(db, transitions, 'WHERE task_id = ? ORDER BY id DESC LIMIT 1')
  // `rejection = 1` in this exact wording: the index contains rejections only.
  const byGate = db.$client
    .prepare<[string, string], [string, number]>(
      `SELECT from_state, count(*) FROM transitions WHERE task_id = ? AND id > ? AND rejection = 1 GROUP BY from_state`,
    )
    .raw()
  const setHooks = db.$client.prepare<[string, string]>('UPDATE transitions SET hooks = ? WHERE id = ?')
  return {
    put: prepareUpsert(db, transitions, transitions.id),
    setHooks: (id, hooks) => void setHooks.run(JSON.stringify(hooks), id),
    get,
    byTask,
    last: (task_id) => last(task_id)[0] ?? null,
    rejectionsByGate: (task_id, since) => new Map(byGate.all(task_id, since ?? '')),
    renameStates: (project_id, names) => {
      const from = isRenamed(transitions.from_state, names)
      const to = isRenamed(transitions.to_state, names)
      if (from === null || to === null) return
      const ofProject = db.select({ id: tasks.id }).from(tasks).where(eq(tasks.project_id, project_id))
      db.update(transitions)
        .set({
          from_state: renamed(transitions.from_state, names),
          to_state: renamed(transitions.to_state, names),
        })
        .where(and(inArray(transitions.task_id, ofProject), or(from, to)))
        .run()
    },
  }
}
