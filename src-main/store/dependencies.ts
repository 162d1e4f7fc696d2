import { and, eq } from 'drizzle-orm'
import type { TaskId } from '../../src-shared/contract/ids.ts'
import type { Database } from './database-type.ts'
import { cachedQuery } from './query-cache.ts'
import { dependencies, tasks } from './schema/work.ts'
import type { DependencyQueries } from '../ports/task-queries.ts'

/** Creates the queries of dependencies between tasks. */
export function createDependencyQueries(db: Database): DependencyQueries {
  const of = db.$client
    .prepare<[string], TaskId>('SELECT depends_on_id FROM dependencies WHERE task_id = ? ORDER BY depends_on_id')
    .pluck()
  const dependents = db.$client
    .prepare<[string], TaskId>('SELECT task_id FROM dependencies WHERE depends_on_id = ? ORDER BY task_id')
    .pluck()
  return {
    of: cachedQuery(db, dependencies, (task_id: TaskId) => of.all(task_id)),
    dependents: (task_id) => dependents.all(task_id),
    add: (task_id, depends_on_id) =>
      void db.insert(dependencies).values({ task_id, depends_on_id }).onConflictDoNothing().run(),
    remove: (task_id, depends_on_id) =>
      void db
        .delete(dependencies)
        .where(and(eq(dependencies.task_id, task_id), eq(dependencies.depends_on_id, depends_on_id)))
        .run(),
    byProject: (project_id) =>
      // Joins from the pairs to the tasks, because most tasks have no dependency.
      db
        .select({ task_id: dependencies.task_id, depends_on_id: dependencies.depends_on_id })
        .from(dependencies)
        .crossJoin(tasks)
        .where(and(eq(tasks.id, dependencies.task_id), eq(tasks.project_id, project_id)))
        .orderBy(dependencies.task_id, dependencies.depends_on_id)
        .all(),
  }
}
