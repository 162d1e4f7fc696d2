import { and, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import type { ProjectId } from '../../src-shared/contract/ids.ts'
import type { ProjectQueries, ProjectRecord, RepoQueries } from '../ports/project-queries.ts'
import type { Database } from './database-type.ts'
import { projectMembers } from './schema/identity.ts'
import { externalLinks, integrations } from './schema/integrations.ts'
import { knowledge } from './schema/notes.ts'
import { agents, projects, repos, tasks } from './schema/work.ts'
import { prepareAll, prepareGet, prepareUpsert } from './prepared-statements.ts'
import { deriveKey } from './project-keys.ts'
import { cachedQuery } from './query-cache.ts'
import type { AgentQueries } from '../ports/agent-queries.ts'

export function createProjectQueries(db: Database): ProjectQueries {
  const getRow = prepareGet(db, projects, projects.id)
  const putRow = prepareUpsert(db, projects, projects.id)
  const isThere = isNull(projects.deletion)
  const withKey = db.$client.prepare<[string], { id: ProjectId }>('SELECT id FROM projects WHERE key = ?')
  const idWithKey = (key: string) => withKey.get(key)?.id ?? null
  return {
    get: cachedQuery(db, projects, (id: ProjectId) => {
      const row = getRow(id)
      return row?.deletion === null ? toRecord(row) : null
    }),
    list: () => db.select().from(projects).where(isThere).orderBy(projects.created_at, projects.id).all().map(toRecord),
    withKey: idWithKey,
    freeKey: (name) => deriveKey(name, (key) => idWithKey(key) !== null),
    put: (record) => {
      putRow({ ...record, deletion: null })
    },
    markDeleted: (id, deletion) => {
      db.update(projects).set({ deletion }).where(eq(projects.id, id)).run()
      // Deleted at once: they are few, and would show elsewhere.
      for (const table of [integrations, projectMembers]) db.delete(table).where(eq(table.project_id, id)).run()
    },
    deleted: () =>
      db
        .select({ id: projects.id, deletion: projects.deletion })
        .from(projects)
        .where(isNotNull(projects.deletion))
        .all()
        .flatMap(({ id, deletion }) => (deletion === null ? [] : [{ id, deletion }])),
    deleteRows: (id, task_ids, limit) => {
      if (task_ids.length > 0) {
        const ids = sql`(SELECT value FROM json_each(${JSON.stringify(task_ids)}))`
        db.delete(tasks)
          .where(and(eq(tasks.project_id, id), sql`${tasks.id} IN ${ids}`))
          .run()
        return true
      }
      for (const table of [externalLinks, knowledge]) {
        const some = sql`rowid IN (SELECT rowid FROM ${table} WHERE project_id = ${id} LIMIT ${limit})`
        if (db.delete(table).where(some).run().changes > 0) return true
      }
      db.delete(projects)
        .where(and(eq(projects.id, id), isNotNull(projects.deletion)))
        .run()
      return false
    },
  }
}

function toRecord({ deletion: _none, ...record }: typeof projects.$inferSelect): ProjectRecord {
  return record
}

export function createRepoQueries(db: Database): RepoQueries {
  const get = prepareGet(db, repos, repos.id)
  const byProject = prepareAll(db, repos, 'WHERE project_id = ? ORDER BY is_primary DESC, id')
  return {
    get,
    byProject: cachedQuery(db, repos, (project_id: ProjectId) => byProject(project_id)),
    put: prepareUpsert(db, repos, repos.id),
    delete: (id) => void db.delete(repos).where(eq(repos.id, id)).run(),
  }
}

export function createAgentQueries(db: Database): AgentQueries {
  const get = prepareGet(db, agents, agents.id)
  return {
    get,
    list: () => db.select().from(agents).orderBy(agents.created_at, agents.id).all(),
    put: prepareUpsert(db, agents, agents.id),
    delete: (id) => void db.delete(agents).where(eq(agents.id, id)).run(),
  }
}
