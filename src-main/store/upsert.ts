import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Database } from './database-type.ts'

/**
 * One prepared statement that writes a whole row, new or known. The builder costs more than the
 * write itself, so every row that changes on a hot path goes through one of these.
 *
 * `steady` are columns that seldom change and stand in indexes or references. Where a row has them already,
 * only the others are written: SQLite writes every index anew whose columns a statement names, changed or not.
 */
export function prepareUpsert<T extends SQLiteTable>(
  db: Database,
  table: T,
  key: SQLiteColumn,
  steady: readonly SQLiteColumn[] = [],
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
  if (steady.length === 0) {
    return (row) => {
      statement.run(row as Record<string, unknown>)
    }
  }
  const update = prepareUpdateOfOthers(db, table, key, steady)
  return (row) => {
    const values = row as Record<string, unknown>
    if (update.run(values).changes === 0) statement.run(values)
  }
}

/** Writes all columns but the steady ones, of a row that has those already. */
function prepareUpdateOfOthers(db: Database, table: SQLiteTable, key: SQLiteColumn, steady: readonly SQLiteColumn[]) {
  const columns = Object.entries(getTableColumns(table))
  const isSet = (column: SQLiteColumn) => column !== key && !steady.includes(column)
  const set = columns.filter(([, column]) => isSet(column)).map(([name]) => [name, sql.placeholder(name)] as const)
  const same = columns
    .filter(([, column]) => steady.includes(column))
    .map(([name, column]) => sql`${column} IS ${sql.param(sql.placeholder(name), column)}`)
  const keyName = columns.find(([, column]) => column === key)?.[0] ?? ''
  return db
    .update(table)
    .set(Object.fromEntries(set) as never)
    .where(and(eq(key, sql.placeholder(keyName)), ...same))
    .prepare()
}
