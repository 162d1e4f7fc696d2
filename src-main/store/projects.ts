import { desc, eq, sql } from 'drizzle-orm'
import type { Queries } from '../engine/ports/store.ts'
import type { Database } from './database-type.ts'
import { agents, projects, repos } from './schema/work.ts'
import { prepareGet, prepareUpsert } from './hot-statements.ts'
import { remembered } from './remembered.ts'

export function createProjectQueries(db: Database): Queries['projects'] {
  const get = remembered(db, prepareGet(db, projects, projects.id))
  return {
    get,
    list: () => db.select().from(projects).orderBy(projects.created_at, projects.id).all(),
    put: prepareUpsert(db, projects, projects.id),
    delete: (id) => void db.delete(projects).where(eq(projects.id, id)).run(),
  }
}

export function createRepoQueries(db: Database): Queries['repos'] {
  const get = prepareGet(db, repos, repos.id)
  const byProject = db
    .select()
    .from(repos)
    .where(eq(repos.project_id, sql.placeholder('project_id')))
    .orderBy(desc(repos.is_primary), repos.id)
    .prepare()
  return {
    get,
    byProject: (project_id) => byProject.all({ project_id }),
    put: prepareUpsert(db, repos, repos.id),
    delete: (id) => void db.delete(repos).where(eq(repos.id, id)).run(),
  }
}

export function createAgentQueries(db: Database): Queries['agents'] {
  const get = prepareGet(db, agents, agents.id)
  return {
    get,
    list: () => db.select().from(agents).orderBy(agents.created_at, agents.id).all(),
    put: prepareUpsert(db, agents, agents.id),
    delete: (id) => void db.delete(agents).where(eq(agents.id, id)).run(),
  }
}
