import { and, eq, sql } from 'drizzle-orm'
import type { Database } from './database-type.ts'
import { viewedFiles, viewedHunks } from './schema/diffs.ts'
import type { ViewedFileQueries } from '../ports/workspace-queries.ts'

/** Creates the queries of viewed marks: of files with the content that was viewed, and of hunks. */
export function createViewedFileQueries(db: Database): ViewedFileQueries {
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
  const isHunkOf = and(
    eq(viewedHunks.task_id, sql.placeholder('task_id')),
    eq(viewedHunks.reader, sql.placeholder('reader')),
  )
  const hunksOf = db
    .select({ id: viewedHunks.hunk, path: viewedHunks.path })
    .from(viewedHunks)
    .where(isHunkOf)
    .prepare()
  const putHunk = db
    .insert(viewedHunks)
    .values({
      task_id: sql.placeholder('task_id'),
      reader: sql.placeholder('reader'),
      hunk: sql.placeholder('id'),
      path: sql.placeholder('path'),
    })
    .onConflictDoNothing()
    .prepare()
  const removeHunk = db
    .delete(viewedHunks)
    .where(and(isHunkOf, eq(viewedHunks.hunk, sql.placeholder('id'))))
    .prepare()
  return {
    of: (task, who) => of.all({ task_id: task, reader: who }),
    put: (task, who, file) => void put.run({ task_id: task, reader: who, ...file }),
    passOn: (from, to) => {
      db.update(viewedFiles).set({ reader: to }).where(eq(reader, from)).run()
      db.update(viewedHunks).set({ reader: to }).where(eq(viewedHunks.reader, from)).run()
    },
    remove: (task, who, file) => void remove.run({ task_id: task, reader: who, path: file }),
    hunksOf: (task, who) => hunksOf.all({ task_id: task, reader: who }),
    putHunk: (task, who, hunk) => void putHunk.run({ task_id: task, reader: who, ...hunk }),
    removeHunk: (task, who, id) => void removeHunk.run({ task_id: task, reader: who, id }),
  }
}
