import { and, eq, isNotNull, lte, sql } from 'drizzle-orm'
import type { Database } from './database-type.ts'
import { tasks, workspaces } from './schema/work.ts'
import { prepareAll, prepareGet, prepareUpsert } from './prepared-statements.ts'
import { cachedQuery } from './query-cache.ts'
import type { WorkspaceQueries } from '../ports/workspace-queries.ts'

export function createWorkspaceQueries(db: Database): WorkspaceQueries {
  const byTask = cachedQuery(db, workspaces, prepareGet(db, workspaces, workspaces.task_id))
  const atPath = prepareAll(db, workspaces, "WHERE path = ? AND status NOT IN ('cleaned', 'creating')")
  return {
    put: prepareUpsert(db, workspaces, workspaces.id),
    byTask,
    atPath: (path) => atPath(path)[0] ?? null,
    delete: (id) => void db.delete(workspaces).where(eq(workspaces.id, id)).run(),
    toClean: (now) =>
      db
        .select()
        .from(workspaces)
        .where(
          and(
            sql`${workspaces.status} = 'cleanup_scheduled'`,
            now === null ? undefined : lte(workspaces.cleanup_at, now),
          ),
        )
        .orderBy(workspaces.cleanup_at)
        .all(),
    byProject: (project_id) =>
      db
        .select({ workspace: workspaces })
        .from(workspaces)
        .innerJoin(tasks, eq(tasks.id, workspaces.task_id))
        .where(eq(tasks.project_id, project_id))
        .all()
        .map((row) => row.workspace),
    present: () =>
      db
        .select({ workspace: workspaces, task: tasks })
        .from(workspaces)
        .innerJoin(tasks, eq(tasks.id, workspaces.task_id))
        .where(and(sql`${workspaces.status} NOT IN ('cleaned', 'creating')`, eq(tasks.archived, false)))
        .all(),
    withWork: () =>
      db
        .select({ workspace: workspaces, task: tasks })
        .from(workspaces)
        .innerJoin(tasks, eq(tasks.id, workspaces.task_id))
        .where(
          and(
            sql`(${workspaces.status} NOT IN ('cleaned', 'creating')
              OR (${workspaces.status} = 'cleaned' AND ${tasks.error_annotation} IS NOT NULL))`,
            isNotNull(workspaces.base_commit),
            eq(tasks.archived, false),
          ),
        )
        .all(),
    paths: () =>
      db
        .select({ path: workspaces.path })
        .from(workspaces)
        .where(sql`${workspaces.status} <> 'cleaned'`)
        .all()
        .map((row) => row.path),
    passOn: (from, to) => void db.update(workspaces).set({ runner_id: to }).where(eq(workspaces.runner_id, from)).run(),
    portBases: () =>
      new Set(
        db
          .select({ port_base: workspaces.port_base })
          .from(workspaces)
          .where(isNotNull(workspaces.port_base))
          .all()
          .map((row) => row.port_base ?? 0),
      ),
  }
}
