import { and, asc, eq, gt, sql } from 'drizzle-orm'
import type { EventEnvelope } from '../../src-shared/contract/events.ts'
import type { Database } from './database-type.ts'
import { prepareAll } from './prepared-statements.ts'
import { effects, events, tasks } from './schema/work.ts'
import type { EffectQueries } from '../ports/effect-queries.ts'
import type { EventQueries } from '../ports/event-queries.ts'

/** Maximum of events deleted at a time, because a commit waits for it. */
const maxTrimmed = 400

export function createEventQueries(db: Database): EventQueries {
  const append = db.$client.prepare<[string | null, string, string]>(
    'INSERT INTO events (project_id, type, data) VALUES (?, ?, ?)',
  )
  const trim = db.$client.prepare<[number, number]>(
    `DELETE FROM events WHERE seq IN (
       SELECT seq FROM events WHERE seq <= (SELECT max(seq) FROM events) - ? ORDER BY seq LIMIT ?)`,
  )
  const texts = createTaskTexts(db)
  return {
    append: (type, project_id, data) => {
      const { lastInsertRowid } = append.run(project_id, type, JSON.stringify(texts.leftOut(data)))
      return { seq: Number(lastInsertRowid), type, data } as unknown as EventEnvelope
    },
    after: (seq, limit) =>
      db
        .select()
        .from(events)
        .where(gt(events.seq, seq))
        .orderBy(asc(events.seq))
        .limit(limit)
        .all()
        .map(({ seq, type, data }) => ({ seq, type, data: texts.putBack(JSON.parse(data)) }) as EventEnvelope),
    range: () => {
      // Two queries, because one for both minimum and maximum scans every row.
      const row = db.get<{ first: number | null; last: number | null }>(
        sql`SELECT (SELECT min(seq) FROM events) AS first, (SELECT max(seq) FROM events) AS last`,
      )
      return { first: row.first ?? 0, last: row.last ?? 0 }
    },
    trim: (keep) => trim.run(keep, maxTrimmed).changes === maxTrimmed,
  }
}

/**
 * Every event of a task contains the whole task, whose description may be a megabyte, so the description is stored
 * with the task only. A client that resumes gets the current description, as the latest event would; a deleted task
 * has none.
 */
function createTaskTexts(db: Database) {
  const read = db.$client.prepare<[string], string | null>('SELECT description FROM tasks WHERE id = ?').pluck()
  return {
    leftOut: (data: unknown): unknown => {
      if (!hasTask(data)) return data
      const { description: _text, ...task } = data.task
      return { ...data, task }
    },
    putBack: (data: unknown): unknown => {
      if (!hasTask(data) || 'description' in data.task) return data
      return { ...data, task: { ...data.task, description: read.get(data.task.id) ?? null } }
    },
  }
}

function hasTask(data: unknown): data is { readonly task: { readonly id: string; readonly description?: unknown } } {
  return typeof data === 'object' && data !== null && 'task' in data
}

export function createEffectQueries(db: Database): EffectQueries {
  const add = db.$client.prepare<[string, string]>('INSERT INTO effects (task_id, data) VALUES (?, ?)')
  const update = db.$client.prepare<[string, number]>('UPDATE effects SET data = ? WHERE id = ?')
  const remove = db.$client.prepare<[number]>('DELETE FROM effects WHERE id = ?')
  const removeOfTask = db.$client.prepare<[string]>('DELETE FROM effects WHERE task_id = ?')
  const first = prepareAll(db, effects, 'WHERE task_id = ? ORDER BY id LIMIT 1')
  return {
    add: (task_id, data) => Number(add.run(task_id, JSON.stringify(data)).lastInsertRowid),
    update: (id, data) => void update.run(JSON.stringify(data), id),
    remove: (id) => void remove.run(id),
    removeOfTask: (task_id) => void removeOfTask.run(task_id),
    first: (task_id) => first(task_id)[0] ?? null,
    pendingTasks: () =>
      db
        .selectDistinct({ task_id: effects.task_id })
        .from(effects)
        .all()
        .map((row) => row.task_id),
    ofProject: (project_id) =>
      // Joins from the effects to their tasks, because few are pending at a time.
      db
        .select({ id: effects.id, task_id: effects.task_id, data: effects.data })
        .from(effects)
        .crossJoin(tasks)
        .where(and(eq(tasks.id, effects.task_id), eq(tasks.project_id, project_id)))
        .orderBy(effects.id)
        .all(),
  }
}
