import { and, asc, eq, gt, sql } from 'drizzle-orm'
import type { EventEnvelope } from '../../src-shared/contract/events.ts'
import type { Queries } from '../engine/store-port.ts'
import type { Database } from './database-type.ts'
import { effects, events, tasks } from './schema/work.ts'

export function createEventQueries(db: Database): Queries['events'] {
  const append = db
    .insert(events)
    .values({
      project_id: sql.placeholder('project_id'),
      type: sql.placeholder('type'),
      data: sql.placeholder('data'),
    })
    .prepare()
  return {
    append: (type, project_id, data) => {
      const { lastInsertRowid } = append.run({ project_id, type, data: JSON.stringify(data) })
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
        .map((row) => ({ seq: row.seq, type: row.type, data: JSON.parse(row.data) as unknown }) as EventEnvelope),
    range: () => {
      // Asked for together, the smallest and the largest are looked for in every row.
      const row = db.get<{ first: number | null; last: number | null }>(
        sql`SELECT (SELECT min(seq) FROM events) AS first, (SELECT max(seq) FROM events) AS last`,
      )
      return { first: row.first ?? 0, last: row.last ?? 0 }
    },
    trim: (keep) =>
      void db
        .delete(events)
        .where(sql`${events.seq} <= (SELECT max(seq) FROM events) - ${keep}`)
        .run(),
  }
}

export function createEffectQueries(db: Database): Queries['effects'] {
  const add = db
    .insert(effects)
    .values({ task_id: sql.placeholder('task_id'), data: sql.placeholder('data') })
    .prepare()
  const first = db
    .select()
    .from(effects)
    .where(eq(effects.task_id, sql.placeholder('task_id')))
    .orderBy(asc(effects.id))
    .limit(1)
    .prepare()
  const remove = db
    .delete(effects)
    .where(eq(effects.id, sql.placeholder('id')))
    .prepare()
  const removeOfTask = db
    .delete(effects)
    .where(eq(effects.task_id, sql.placeholder('task_id')))
    .prepare()
  return {
    add: (task_id, data) => Number(add.run({ task_id, data }).lastInsertRowid),
    update: (id, data) => void db.update(effects).set({ data }).where(eq(effects.id, id)).run(),
    remove: (id) => void remove.run({ id }),
    removeOfTask: (task_id) => void removeOfTask.run({ task_id }),
    first: (task_id) => first.get({ task_id }) ?? null,
    pendingTasks: () =>
      db
        .selectDistinct({ task_id: effects.task_id })
        .from(effects)
        .all()
        .map((row) => row.task_id),
    ofProject: (project_id) =>
      // From the effects to their tasks, not the other way round: few are pending at a time.
      db
        .select({ id: effects.id, task_id: effects.task_id, data: effects.data })
        .from(effects)
        .crossJoin(tasks)
        .where(and(eq(tasks.id, effects.task_id), eq(tasks.project_id, project_id)))
        .orderBy(effects.id)
        .all(),
  }
}
