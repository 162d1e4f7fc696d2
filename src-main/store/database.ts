import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import SqliteDatabase from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { migrate } from 'drizzle-orm/better-sqlite3/migrator'
import type { Database } from './database-type.ts'

export interface OpenDatabase {
  readonly db: Database
  /** Runs `work` as one transaction; what it throws rolls everything back. Not re-entrant. */
  transaction<T>(work: () => T): T
  close(): void
}

/** The file belongs to a later version; nothing in it was touched. */
export class DatabaseTooNewError extends Error {
  override readonly name = 'DatabaseTooNewError'
  readonly code = 'database_too_new'
}

/**
 * Opens (or makes) the database and brings it up to date. Before a migration touches a file that
 * holds data, the file is copied to `<file>.before-<n>` beside it.
 */
export async function openDatabase(file: string, migrationsFolder: string): Promise<OpenDatabase> {
  const existed = existsSync(file)
  const client = new SqliteDatabase(file)
  try {
    client.pragma('journal_mode = WAL')
    client.pragma('synchronous = NORMAL')
    client.pragma('busy_timeout = 5000')
    const applied = countApplied(client)
    const known = countKnown(migrationsFolder)
    if (applied > known) {
      throw new DatabaseTooNewError(
        `${file} was written by a newer Copse (${applied} migrations, this one knows ${known}). Update Copse.`,
      )
    }
    if (existed && applied > 0 && applied < known) await client.backup(`${file}.before-${known}`)
    const db: Database = drizzle({ client })
    // A migration that rebuilds a table needs this off, and inside its transaction the pragma does nothing.
    client.pragma('foreign_keys = OFF')
    migrate(db, { migrationsFolder })
    const broken = client.pragma('foreign_key_check') as unknown[]
    if (broken.length > 0) throw new Error(`${file}: ${broken.length} rows point at nothing after the migration.`)
    client.pragma('foreign_keys = ON')
    const inTransaction = client.transaction((work: () => unknown) => work())
    return {
      db,
      transaction: <T>(work: () => T) => inTransaction.immediate(work) as T,
      close: () => {
        if (!client.open) return
        client.pragma('wal_checkpoint(TRUNCATE)')
        client.close()
      },
    }
  } catch (error) {
    client.close()
    throw error
  }
}

function countApplied(client: SqliteDatabase.Database): number {
  const table = client.prepare(`SELECT 1 FROM sqlite_master WHERE name = '__drizzle_migrations'`).get()
  if (!table) return 0
  return (client.prepare('SELECT count(*) AS n FROM __drizzle_migrations').get() as { n: number }).n
}

function countKnown(folder: string): number {
  const journal = JSON.parse(readFileSync(join(folder, 'meta', '_journal.json'), 'utf8')) as { entries: unknown[] }
  return journal.entries.length
}
