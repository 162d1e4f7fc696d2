import { getTableColumns, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Database } from './database-type.ts'

/**
 * One prepared statement that writes a whole row, new or known. The builder costs more than the
 * write itself, so every row that changes on a hot path goes through one of these.
 */
export function prepareUpsert<T extends SQLiteTable>(
  db: Database,
  table: T,
  key: SQLiteColumn,
): (row: T['$inferSelect']) => void {
  const columns = Object.entries(getTableColumns(table))
  const values = Object.fromEntries(columns.map(([name]) => [name, sql.placeholder(name)]))
  const others = columns.filter(([, column]) => column !== key)
  const set = Object.fromEntries(others.map(([name, column]) => [name, sql.raw(`excluded."${column.name}"`)]))
  const statement = db
    .insert(table)
    .values(values as never)
    .onConflictDoUpdate({ target: key, set: set as never })
    .prepare()
  return (row) => {
    statement.run(row as Record<string, unknown>)
  }
}
