import { inArray, sql, type SQL } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'

type Names = ReadonlyMap<string, string>

/** Returns the expression for the column's new name. All names change at once, so that two can swap. */
export function renamed(column: SQLiteColumn, names: Names): SQL {
  const changed = changedOf(names)
  if (changed.length === 0) return sql`${column}`
  const cases = changed.map(([old, next]) => sql`WHEN ${old} THEN ${next}`)
  return sql`CASE ${column} ${sql.join(cases, sql` `)} ELSE ${column} END`
}

/** Returns the condition that the column's value changes, or null if no name does. */
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
