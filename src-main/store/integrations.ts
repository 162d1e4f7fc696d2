import { asc, eq } from 'drizzle-orm'
import type { Database } from './database-type.ts'
import { prepareAll, prepareUpsert } from './prepared-statements.ts'
import { readInstallation, writeInstallation } from './installation.ts'
import { integrations } from './schema/integrations.ts'
import type { IntegrationQueries, SecretHostQueries } from '../ports/integration-queries.ts'

/** Creates the queries of the hosts that variables' values may be sent to; stored in `installation`. */
export function createSecretHostQueries(db: Database): SecretHostQueries {
  const keyOf = (name: string) => `secret_host:${name}`
  return {
    get: (name) => readInstallation(db, keyOf(name)),
    put: (name, host) => {
      writeInstallation(db, keyOf(name), host)
    },
  }
}

/** Creates the queries of issue tracker connections. */
export function createIntegrationQueries(db: Database): IntegrationQueries {
  const byProject = prepareAll(db, integrations, 'WHERE project_id = ?')
  return {
    byProject: (project_id) => byProject(project_id)[0] ?? null,
    list: () => db.select().from(integrations).orderBy(asc(integrations.id)).all(),
    put: prepareUpsert(db, integrations, integrations.id, [integrations.project_id]),
    delete: (id) => void db.delete(integrations).where(eq(integrations.id, id)).run(),
  }
}
