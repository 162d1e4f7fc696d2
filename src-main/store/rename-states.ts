import { inArray, sql, type SQL } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'

type Names = ReadonlyMap<string, string>

/** The column's value under its new name, all names at once: two that swap don't meet in the middle. */
export function renamed(column: SQLiteColumn, names: Names): SQL {
  const changed = changedOf(names)
  if (changed.length === 0) return sql`${column}`
  const cases = changed.map(([old, next]) => sql`WHEN ${old} THEN ${next}`)
  return sql`CASE ${column} ${sql.join(cases, sql` `)} ELSE ${column} END`
}

/** Whether the column's value gets another name; null when no name changes. */
export function isRenamed(column: SQLiteColumn, names: Names): SQL | null {
  const changed = changedOf(names)
  return changed.length === 0
    ? null
    : inArray(
        column,
        changed.map(([old]) => old),
      )
}

function changedOf(names: Names): [old: string, next: string][] {
  return [...names].filter(([old, next]) => old !== next)
}
