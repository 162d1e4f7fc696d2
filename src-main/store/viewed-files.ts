import { and, eq, sql } from 'drizzle-orm'
import type { Queries } from '../ports/store.ts'
import type { Database } from './database-type.ts'
import { viewedFiles } from './schema/diffs.ts'

/** Creates the queries of viewed marks, with the content that was viewed. */
export function createViewedFileQueries(db: Database): Queries['viewed_files'] {
  const { task_id, reader, path } = viewedFiles
  const isOf = and(eq(task_id, sql.placeholder('task_id')), eq(reader, sql.placeholder('reader')))
  const of = db
    .select({ path, blob: viewedFiles.blob, new_mode: viewedFiles.new_mode })
    .from(viewedFiles)
    .where(isOf)
    .prepare()
  const put = db
    .insert(viewedFiles)
    .values({
      task_id: sql.placeholder('task_id'),
      reader: sql.placeholder('reader'),
      path: sql.placeholder('path'),
      blob: sql.placeholder('blob'),
      new_mode: sql.placeholder('new_mode'),
    })
    .onConflictDoUpdate({
      target: [task_id, reader, path],
      set: { blob: sql`excluded.blob`, new_mode: sql`excluded.new_mode` },
    })
    .prepare()
  const remove = db
    .delete(viewedFiles)
    .where(and(isOf, eq(path, sql.placeholder('path'))))
    .prepare()
  return {
    of: (task, who) => of.all({ task_id: task, reader: who }),
    put: (task, who, file) => void put.run({ task_id: task, reader: who, ...file }),
    passOn: (from, to) => void db.update(viewedFiles).set({ reader: to }).where(eq(reader, from)).run(),
    remove: (task, who, file) => void remove.run({ task_id: task, reader: who, path: file }),
  }
}
