import { sql, type SQL } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'

/** Returns the condition for the rows after this one in a list, newest first; for all with null. */
export function olderThan(
  table: { readonly created_at: SQLiteColumn; readonly id: SQLiteColumn },
  after: { readonly created_at: string; readonly id: string } | null,
): SQL | undefined {
  if (after === null) return undefined
  return sql`(${table.created_at}, ${table.id}) < (${after.created_at}, ${after.id})`
}
