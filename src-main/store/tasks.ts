import { and, eq, gt, like, or, sql, type SQL } from 'drizzle-orm'
import type { ProjectId } from '../../src-shared/contract/ids.ts'
import type { TaskFilter } from '../ports/task-lists.ts'
import type { TaskQueries, TaskRecord } from '../ports/task-queries.ts'
import type { Database } from './database-type.ts'
import {
  prepareAll,
  prepareGet,
  prepareInsert,
  prepareInsertMany,
  prepareUpsert,
  readRows,
} from './prepared-statements.ts'
import { BugError } from '../../src-shared/lang/bug-error.ts'
import { cachedQuery } from './query-cache.ts'
import { isRenamed, renamed } from './rename-states.ts'
import { tasks } from './schema/work.ts'
import { everyWordOf } from './search-words.ts'

export function createTaskQueries(db: Database): TaskQueries {
  const get = cachedQuery(db, tasks, prepareGet(db, tasks, tasks.id))
  const put = prepareUpsert(db, tasks, tasks.id, [
    ...[tasks.project_id, tasks.number, tasks.parent_id, tasks.archived, tasks.position],
  ])
  // Queried separately for archived and other tasks, so that each is the end of an index.
  const last = db.$client.prepare<[string, string], { position: number | null }>(
    `SELECT max(position) AS position FROM (
       SELECT max(position) AS position FROM tasks WHERE project_id = ? AND archived = 0 UNION ALL
       SELECT max(position) FROM tasks WHERE project_id = ? AND archived = 1)`,
  )
  const columnBy = (order: string) =>
    db.$client
      .prepare<[string, string, number], TaskRecord['id']>(
        `SELECT id FROM tasks WHERE project_id = ? AND status = ? AND archived = 0 ORDER BY ${order} LIMIT ?`,
      )
      .pluck()
  const columns = { position: columnBy('position DESC, id DESC'), latest: columnBy('updated_at DESC, id DESC') }
  // Exactly as in the index tasks_pressing, which SQLite would not choose by itself.
  const isPressing = '(active_execution_id IS NOT NULL OR error_annotation IS NOT NULL)'
  const pressing = db.$client
    .prepare<[string], TaskRecord['id']>(
      `SELECT id FROM tasks INDEXED BY tasks_pressing WHERE project_id = ? AND archived = 0 AND ${isPressing}`,
    )
    .pluck()
  const waiting = db.$client
    .prepare<[string, string], TaskRecord['id']>(
      `SELECT id FROM tasks WHERE project_id = ? AND archived = 0 AND NOT ${isPressing}
         AND status IN (SELECT value FROM json_each(?)) ORDER BY position DESC, id DESC`,
    )
    .pluck()
  type Neighbour = Pick<TaskRecord, 'id' | 'position'>
  const above = db.$client.prepare<[string, number, string, number], Neighbour>(
    `SELECT id, position FROM tasks WHERE project_id = ? AND (position, id) > (?, ?) ORDER BY position, id LIMIT ?`,
  )
  const below = db.$client.prepare<[string, number, string, number], Neighbour>(
    `SELECT id, position FROM tasks WHERE project_id = ? AND (position, id) < (?, ?)
     ORDER BY position DESC, id DESC LIMIT ?`,
  )
  const nextNumber = db.$client.prepare<[string, number], { last: number }>(
    `INSERT INTO task_numbers (project_id, last) VALUES (?, ?)
     ON CONFLICT (project_id) DO UPDATE SET last = last + excluded.last RETURNING last`,
  )
  const children = prepareAll(db, tasks, 'WHERE parent_id = ? ORDER BY position, id')
  const starting = db.$client
    .prepare<[], TaskRecord['id']>('SELECT id FROM tasks WHERE start_when_ready IS NOT NULL ORDER BY id')
    .pluck()
  const stacked = db.$client
    .prepare<[], TaskRecord['id']>(
      `SELECT id FROM tasks WHERE stacked_on IS NOT NULL UNION
       SELECT task_id FROM workspaces WHERE stack IS NOT NULL AND stack ->> '$.on' IS NOT NULL`,
    )
    .pluck()
  const undoingMerge = db.$client
    .prepare<[], TaskRecord['id']>("SELECT id FROM tasks WHERE merge ->> '$.undo' IS NOT NULL ORDER BY id")
    .pluck()
  const stackedOn = db.$client
    .prepare<[string], TaskRecord['id']>('SELECT id FROM tasks WHERE stacked_on = ? ORDER BY id')
    .pluck()
  return {
    get,
    put,
    startingWhenReady: () => starting.all(),
    stacked: () => stacked.all(),
    undoingMerge: () => undoingMerge.all(),
    stackedOn: (id) => stackedOn.all(id),
    add: prepareInsert(db, tasks),
    addMany: prepareInsertMany(db, tasks),
    delete: (id) => {
      db.update(tasks).set({ parent_id: null, subtask_mode: null }).where(eq(tasks.parent_id, id)).run()
      db.delete(tasks).where(eq(tasks.id, id)).run()
    },
    list: (filter) => listTasks(db, filter),
    ofColumn: (project_id, status, order, limit) => columns[order].all(project_id, status, limit),
    pressing: (project_id) => pressing.all(project_id),
    waitingIn: (project_id, statuses) => waiting.all(project_id, JSON.stringify(statuses)),
    lastPosition: (project_id) => last.get(project_id, project_id)?.position ?? 0,
    beyond: ({ id, project_id, position }, up, limit) => (up ? above : below).all(project_id, position, id, limit),
    nextNumber: (project_id, count = 1) => {
      const row = nextNumber.get(project_id, count)
      if (!row) throw new BugError('The next number of a task was not written.')
      return row.last - count + 1
    },
    countByStatus: (project_id) => {
      const rows = db
        .select({ status: tasks.status, n: sql<number>`count(*)` })
        .from(tasks)
        .where(and(eq(tasks.project_id, project_id), eq(tasks.archived, false)))
        .groupBy(tasks.status)
        .all()
      return new Map(rows.map((row) => [row.status, row.n]))
    },
    idsInStatus: (project_id, status) =>
      db
        .select({ id: tasks.id })
        .from(tasks)
        .where(and(eq(tasks.project_id, project_id), eq(tasks.status, status), eq(tasks.archived, false)))
        .all()
        .map((row) => row.id),
    someIds: (project_id, limit) =>
      db
        .select({ id: tasks.id })
        .from(tasks)
        .where(eq(tasks.project_id, project_id))
        .limit(limit)
        .all()
        .map((row) => row.id),
    idsInRepo: (project_id, repo_id) =>
      db
        .select({ id: tasks.id })
        .from(tasks)
        .where(and(eq(tasks.project_id, project_id), eq(tasks.repo_id, repo_id)))
        .orderBy(tasks.id)
        .all()
        .map((row) => row.id),
    children,
    renameStatuses: (project_id, names) => {
      const wanted = isRenamed(tasks.status, names)
      if (wanted === null) return []
      return db
        .update(tasks)
        .set({ status: renamed(tasks.status, names) })
        .where(and(eq(tasks.project_id, project_id), wanted))
        .returning({ id: tasks.id })
        .all()
        .map((row) => row.id)
    },
  }
}

/** After `id:`, a part of an ID, or a complete task reference. */
const isId = /^id:(?:([0-9a-f-]+)|[a-z]{2,5}-\d{1,9})$/i
/** A task reference: `SHO-42`, `#42` or `42`. */
const isRef = /^(?:id:)?(?:([a-z]{2,5})-|#)?(\d{1,9})$/i
/** Up to this many tasks are sorted faster than all of a large project are scanned. */
const maxFew = 1_000

function hasFew(db: Database, words: string): boolean {
  return db.all(sql`SELECT rowid FROM task_text WHERE task_text MATCH ${words} LIMIT 1 OFFSET ${maxFew}`).length === 0
}

interface Question {
  readonly q: string
  readonly project_id: ProjectId
  /** The full-text query, if the question has words. */
  readonly words: string | null
  readonly few: boolean
}

/**
 * Returns the search condition: all words in any order, or a task reference; after `id:`, the start or end of an ID,
 * or a complete reference.
 */
function isFound({ q, project_id, words, few }: Question): SQL {
  const named = withRef(project_id, q)
  const asked = isId.exec(q)
  if (asked) {
    const digits = asked[1]?.replaceAll('-', '').toLowerCase() ?? ''
    const id = sql`replace(${tasks.id}, '-', '')`
    const parts = digits === '' ? [] : [like(id, `${digits}%`), like(id, `%${digits}`)]
    return or(...parts, named && q.includes('-') ? sql`${tasks.id} = (${named})` : undefined) ?? sql`0`
  }
  const found = sql`(SELECT rowid FROM task_text WHERE task_text MATCH ${words})`
  if (few) {
    const withWords = sql`SELECT task_id FROM task_words WHERE number IN ${found}`
    return sql`${tasks.id} IN (${withWords} ${named ? sql`UNION ${named}` : sql``})`
  }
  // Of many matches, the first few in order are soon met: tasks are scanned in order, and each is looked up.
  if (words !== null) {
    const hasWords = sql`(SELECT number FROM task_words WHERE task_id = ${tasks.id}) IN ${found}`
    return named ? sql`(${hasWords} OR ${tasks.id} = (${named}))` : hasWords
  }
  // A question without words is punctuation, searched literally.
  const text = `%${q.replace(/[\\%_]/g, '\\$&')}%`
  return sql`(${tasks.title} LIKE ${text} ESCAPE '\\' OR ${tasks.description} LIKE ${text} ESCAPE '\\')`
}

/** Returns the condition for the task of this project with a reference. */
function withRef(project_id: ProjectId, text: string): SQL | null {
  const [, key, number] = isRef.exec(text) ?? []
  if (number === undefined) return null
  const ofProject = sql`SELECT t.id FROM tasks AS t WHERE t.project_id = ${project_id} AND t.number = ${Number(number)}`
  if (key === undefined) return ofProject
  return sql`${ofProject} AND EXISTS (SELECT 1 FROM projects AS p WHERE p.id = t.project_id AND p.key = ${key.toUpperCase()})`
}

function listTasks(db: Database, filter: TaskFilter): readonly TaskRecord[] {
  const assigned = filter.assignee
  const words = filter.q === null || isId.test(filter.q) ? null : everyWordOf(filter.q)
  const few = words !== null && hasFew(db, words)
  const query = db
    .select()
    .from(tasks)
    .where(
      and(
        // The plus sign keeps SQLite from using the index by project where there is a faster one.
        filter.parent_id === null && !few
          ? eq(tasks.project_id, filter.project_id)
          : sql`+${tasks.project_id} = ${filter.project_id}`,
        filter.include_archived ? undefined : eq(tasks.archived, false),
        filter.status === null ? undefined : eq(tasks.status, filter.status),
        filter.parent_id === null ? undefined : eq(tasks.parent_id, filter.parent_id),
        filter.label === null
          ? undefined
          : sql`EXISTS (SELECT 1 FROM json_each(${tasks.labels}) WHERE value = ${filter.label})`,
        assigned === null
          ? undefined
          : sql`EXISTS (SELECT 1 FROM json_each(${tasks.roles}) AS r WHERE r.value ->> 'id' = ${assigned})`,
        filter.q === null ? undefined : isFound({ q: filter.q, project_id: filter.project_id, words, few }),
        filter.after === null
          ? undefined
          : or(
              gt(tasks.position, filter.after.position),
              and(eq(tasks.position, filter.after.position), gt(tasks.id, filter.after.id)),
            ),
      ),
    )
    .orderBy(tasks.position, tasks.id)
    .limit(filter.limit)
  return readRows(db, tasks, query)
}
