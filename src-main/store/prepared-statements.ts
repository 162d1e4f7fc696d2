import { getTableColumns, getTableName } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Database } from './database-type.ts'

// Every transition reads and writes a few whole rows. Drizzle's prepared statements take two to three times as long
// as SQLite itself, so these are bound and mapped here, by drizzle's columns.

/** Prepares a read of the row with a key; returns null if there is none. */
export function prepareGet<T extends SQLiteTable>(
  db: Database,
  table: T,
  key: SQLiteColumn,
): (value: string | number) => T['$inferSelect'] | null {
  const columns = columnsOf(table)
  const names = columns.map(({ column }) => quote(column.name)).join(', ')
  const statement = db.$client
    .prepare(`SELECT ${names} FROM ${quote(getTableName(table))} WHERE ${quote(key.name)} = ?`)
    .raw()
  return (value) => {
    const row = statement.get(value) as unknown[] | undefined
    return row === undefined ? null : (decode(columns, row) as T['$inferSelect'])
  }
}

/** Prepares a read of the rows that `rest` (from WHERE on, with a `?` for each value) selects. */
export function prepareAll<T extends SQLiteTable>(
  db: Database,
  table: T,
  rest: string,
): (...values: readonly (string | number)[]) => T['$inferSelect'][] {
  const columns = columnsOf(table)
  const names = columns.map(({ column }) => quote(column.name)).join(', ')
  const statement = db.$client.prepare(`SELECT ${names} FROM ${quote(getTableName(table))} ${rest}`).raw()
  return (...values) => statement.all(...values).map((row) => decode(columns, row as unknown[]) as T['$inferSelect'])
}

/** Runs a query that drizzle built (`db.select().from(table)…`) and that returns whole rows. */
export function readRows<T extends SQLiteTable>(
  db: Database,
  table: T,
  query: { toSQL(): { readonly sql: string; readonly params: readonly unknown[] } },
): T['$inferSelect'][] {
  const columns = columnsOf(table)
  const { sql, params } = query.toSQL()
  const rows = db.$client
    .prepare(sql)
    .raw()
    .all(...params)
  return rows.map((row) => decode(columns, row as unknown[]) as T['$inferSelect'])
}

/** Prepares an insert of a new row. */
export function prepareInsert<T extends SQLiteTable>(db: Database, table: T): (row: T['$inferSelect']) => void {
  const columns = columnsOf(table)
  const statement = db.$client.prepare(insertOf(table, columns))
  return (row) => void statement.run(encode(columns, row))
}

/** Rows in one statement: more of them gain little, and a statement has room for 32,766 values. */
const rowsAtOnce = 50

/** Prepares an insert of many new rows, in their order. One statement for several saves what each costs besides. */
export function prepareInsertMany<T extends SQLiteTable>(
  db: Database,
  table: T,
): (rows: readonly T['$inferSelect'][]) => void {
  const columns = columnsOf(table)
  const single = db.$client.prepare(insertOf(table, columns))
  // Few ever need it, and it is long.
  let several: typeof single | null = null
  return (rows) => {
    const end = rows.length - (rows.length % rowsAtOnce)
    for (let at = 0; at < end; at += rowsAtOnce) {
      several ??= db.$client.prepare(insertOf(table, columns, rowsAtOnce))
      several.run(rows.slice(at, at + rowsAtOnce).flatMap((row) => encode(columns, row)))
    }
    for (const row of rows.slice(end)) single.run(encode(columns, row))
  }
}

/**
 * Prepares an insert or update of a whole row.
 *
 * `steady` are columns that rarely change and are part of indexes or references. If the row has the same values
 * there, only the others are written: SQLite rewrites every index whose columns a statement names, changed or not.
 */
export function prepareUpsert<T extends SQLiteTable>(
  db: Database,
  table: T,
  key: SQLiteColumn,
  steady: readonly SQLiteColumn[] = [],
): (row: T['$inferSelect']) => void {
  const columns = columnsOf(table)
  const name = quote(getTableName(table))
  const names = columns.map(({ column }) => quote(column.name))
  const others = names.filter((one) => one !== quote(key.name))
  const upsert = db.$client.prepare(
    `${insertOf(table, columns)}
     ON CONFLICT (${quote(key.name)}) DO UPDATE SET ${others.map((one) => `${one} = excluded.${one}`).join(', ')}`,
  )
  const update = steady.length === 0 ? null : prepareUpdate(db, name, columns, [key, ...steady])
  return (row) => {
    const values = row as Record<string, unknown>
    if (update !== null && update(values)) return
    upsert.run(encode(columns, values))
  }
}

/** Prepares an update of the other columns of a row with these `same` values; returns whether there was one. */
function prepareUpdate(db: Database, table: string, columns: readonly NamedColumn[], same: readonly SQLiteColumn[]) {
  const kept = columns.filter(({ column }) => same.includes(column))
  const written = columns.filter(({ column }) => !same.includes(column))
  const statement = db.$client.prepare(
    `UPDATE ${table} SET ${written.map(({ column }) => `${quote(column.name)} = ?`).join(', ')}
     WHERE ${kept.map(({ column }) => `${quote(column.name)} IS ?`).join(' AND ')}`,
  )
  const ordered = [...written, ...kept]
  return (row: Record<string, unknown>): boolean => statement.run(encode(ordered, row)).changes > 0
}

interface NamedColumn {
  /** The record's field. */
  readonly name: string
  readonly column: SQLiteColumn
}

function columnsOf(table: SQLiteTable): readonly NamedColumn[] {
  return Object.entries(getTableColumns(table)).map(([name, column]) => ({ name, column }))
}

function insertOf(table: SQLiteTable, columns: readonly NamedColumn[], rows = 1): string {
  const names = columns.map(({ column }) => quote(column.name)).join(', ')
  const row = `(${columns.map(() => '?').join(', ')})`
  return `INSERT INTO ${quote(getTableName(table))} (${names}) VALUES ${Array.from({ length: rows }, () => row).join(', ')}`
}

const quote = (name: string) => `"${name}"`

function encode(columns: readonly NamedColumn[], row: Record<string, unknown>): unknown[] {
  return columns.map(({ name, column }) => {
    const value = row[name]
    return value === null ? null : column.mapToDriverValue(value)
  })
}

function decode(columns: readonly NamedColumn[], row: readonly unknown[]): Record<string, unknown> {
  const record: Record<string, unknown> = {}
  columns.forEach(({ name, column }, index) => {
    const value = row[index]
    record[name] = value === null ? null : column.mapFromDriverValue(value)
  })
  return record
}
