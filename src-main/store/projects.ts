import { desc, eq, sql } from 'drizzle-orm'
import type { Queries } from '../engine/store-port.ts'
import type { Database } from './database-type.ts'
import { agents, projects, repos } from './schema/work.ts'
import { prepareUpsert } from './upsert.ts'

export function createProjectQueries(db: Database): Queries['projects'] {
  const byId = db
    .select()
    .from(projects)
    .where(eq(projects.id, sql.placeholder('id')))
    .prepare()
  return {
    get: (id) => byId.get({ id }) ?? null,
    list: () => db.select().from(projects).orderBy(projects.created_at, projects.id).all(),
    put: prepareUpsert(db, projects, projects.id),
    delete: (id) => void db.delete(projects).where(eq(projects.id, id)).run(),
  }
}

export function createRepoQueries(db: Database): Queries['repos'] {
  const byId = db
    .select()
    .from(repos)
    .where(eq(repos.id, sql.placeholder('id')))
    .prepare()
  const byProject = db
    .select()
    .from(repos)
    .where(eq(repos.project_id, sql.placeholder('project_id')))
    .orderBy(desc(repos.is_primary), repos.id)
    .prepare()
  return {
    get: (id) => byId.get({ id }) ?? null,
    byProject: (project_id) => byProject.all({ project_id }),
    put: prepareUpsert(db, repos, repos.id),
  }
}

export function createAgentQueries(db: Database): Queries['agents'] {
  const byId = db
    .select()
    .from(agents)
    .where(eq(agents.id, sql.placeholder('id')))
    .prepare()
  return {
    get: (id) => byId.get({ id }) ?? null,
    list: () => db.select().from(agents).orderBy(agents.created_at, agents.id).all(),
    put: prepareUpsert(db, agents, agents.id),
    delete: (id) => void db.delete(agents).where(eq(agents.id, id)).run(),
  }
}
