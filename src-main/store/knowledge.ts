import { and, desc, eq } from 'drizzle-orm'
import type { KnowledgeFilter, KnowledgePage, KnowledgeQueries, KnowledgeRecord } from '../ports/knowledge-queries.ts'
import type { KnowledgeId, ProjectId } from '../../src-shared/contract/ids.ts'
import type { Database } from './database-type.ts'
import { anyWordOf } from './full-text.ts'
import { prepareAll, prepareGet } from './prepared-statements.ts'
import { olderThan } from './keyset-pagination.ts'
import { knowledge, knowledgeInjections } from './schema/notes.ts'

/** Creates the queries of projects' knowledge, and of what was injected for tasks. */
export function createKnowledgeQueries(db: Database): KnowledgeQueries {
  const get = prepareGet(db, knowledge, knowledge.id)
  // An entry captured by the service wins over one written by an agent.
  const ofTask = prepareAll(
    db,
    knowledge,
    `WHERE source_task_id = ? ORDER BY source_by = 'system' DESC, created_at, id LIMIT 1`,
  )
  const injected = prepareGet(db, knowledgeInjections, knowledgeInjections.task_id)
  return {
    get: (id) => toRecord(get(id)),
    put: (record) => {
      putEntry(db, record)
    },
    delete: (id) => void db.delete(knowledge).where(eq(knowledge.id, id)).run(),
    list: (project_id, filter, page) => listNewest(db, project_id, filter, page),
    search: prepareSearch(db, (id) => toRecord(get(id))),
    bySourceTask: (task_id) => toRecord(ofTask(task_id)[0] ?? null),
    setInjected: (task_id, text) => {
      if (text === null) {
        db.delete(knowledgeInjections).where(eq(knowledgeInjections.task_id, task_id)).run()
        return
      }
      db.insert(knowledgeInjections)
        .values({ task_id, text })
        .onConflictDoUpdate({ target: knowledgeInjections.task_id, set: { text } })
        .run()
    },
    injected: (task_id) => injected(task_id)?.text ?? null,
  }
}

function putEntry(db: Database, record: KnowledgeRecord): void {
  const { source, ...rest } = record
  const row = {
    ...rest,
    source_by: source.by,
    source_task_id: source.task_id,
    source_execution_id: source.execution_id,
  }
  db.insert(knowledge).values(row).onConflictDoUpdate({ target: knowledge.id, set: row }).run()
}

function listNewest(
  db: Database,
  project_id: ProjectId,
  { status, task_id }: KnowledgeFilter,
  page: KnowledgePage,
): readonly KnowledgeRecord[] {
  const ofTask = task_id === null ? undefined : eq(knowledge.source_task_id, task_id)
  return db
    .select()
    .from(knowledge)
    .where(
      and(eq(knowledge.project_id, project_id), eq(knowledge.status, status), ofTask, olderThan(knowledge, page.after)),
    )
    .orderBy(desc(knowledge.created_at), desc(knowledge.id))
    .limit(page.limit)
    .all()
    .map((row) => toRecord(row))
}

function prepareSearch(db: Database, get: (id: KnowledgeId) => KnowledgeRecord | null): KnowledgeQueries['search'] {
  // A match in the title counts three times. Joins from words to entries: the other way round, SQLite would look the
  // words up for every entry of the project.
  const found = db.$client
    .prepare<[string, string, string, string | null, string | null, number, number], KnowledgeId>(
      `SELECT knowledge.id FROM knowledge_text CROSS JOIN knowledge ON knowledge.number = knowledge_text.rowid
       WHERE knowledge_text MATCH ? AND knowledge.project_id = ? AND knowledge.status = ?
         AND (? IS NULL OR knowledge.source_task_id = ?)
       ORDER BY bm25(knowledge_text, 3.0, 1.0), knowledge.created_at DESC, knowledge.id DESC LIMIT ? OFFSET ?`,
    )
    .pluck()
  return (project_id, text, { status, task_id }, { offset, limit }) => {
    const query = anyWordOf(text)
    if (query === null) return []
    return found.all(query, project_id, status, task_id, task_id, limit, offset).flatMap((id) => get(id) ?? [])
  }
}

function toRecord(row: typeof knowledge.$inferSelect): KnowledgeRecord
function toRecord(row: typeof knowledge.$inferSelect | null): KnowledgeRecord | null
function toRecord(row: typeof knowledge.$inferSelect | null): KnowledgeRecord | null {
  if (row === null) return null
  const { number: _number, source_by, source_task_id, source_execution_id, ...rest } = row
  return { ...rest, source: { by: source_by, task_id: source_task_id, execution_id: source_execution_id } }
}
