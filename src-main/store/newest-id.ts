import { sql } from 'drizzle-orm'
import type { Database } from './database-type.ts'

/** Tables whose IDs say in which order their rows were made. */
const ordered = ['tasks', 'executions', 'transitions', 'reviews', 'comments', 'notifications'] as const
const version7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/

/** Returns the newest ID (a UUIDv7) of all records that are ordered by theirs; null before the first. */
export function newestId(db: Database): string | null {
  // `max(id)` alone is read from the index.
  const found = ordered.map((table) => db.get<{ id: string | null }>(sql`SELECT max(id) AS id FROM ${sql.raw(table)}`))
  const ids = found.flatMap((row) => (row?.id && version7.test(row.id) ? [row.id] : []))
  return ids.sort().at(-1) ?? null
}
