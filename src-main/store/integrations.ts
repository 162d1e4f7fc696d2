import { asc, eq } from 'drizzle-orm'
import type { Queries } from '../engine/ports/store.ts'
import type { Database } from './database-type.ts'
import { prepareAll, prepareUpsert } from './hot-statements.ts'
import { integrations } from './schema/integrations.ts'

/** Where projects get their issues from. */
export function createIntegrationQueries(db: Database): Queries['integrations'] {
  const byProject = prepareAll(db, integrations, 'WHERE project_id = ?')
  return {
    byProject: (project_id) => byProject(project_id)[0] ?? null,
    list: () => db.select().from(integrations).orderBy(asc(integrations.id)).all(),
    put: prepareUpsert(db, integrations, integrations.id, [integrations.project_id]),
    delete: (id) => void db.delete(integrations).where(eq(integrations.id, id)).run(),
  }
}
