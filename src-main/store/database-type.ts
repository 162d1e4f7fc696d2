import type SqliteDatabase from 'better-sqlite3'
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3'

/** The handle that every query function takes first; inside a transaction it is the same connection. */
export type Database = BetterSQLite3Database<Record<string, never>> & { readonly $client: SqliteDatabase.Database }
