import { chmodSync, closeSync, existsSync, openSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import SqliteDatabase from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { migrate } from 'drizzle-orm/better-sqlite3/migrator'
import type { Database } from './database-type.ts'
import { checkInBackground } from './background-check.ts'
import { createCheckpoints, type Checkpoints } from './checkpoints.ts'
import { leaveCleanMark, takeCleanMark } from './clean-mark.ts'
import { damagedInUse, unusable, type DatabaseUnusableError } from './database-trouble.ts'
import { prepareShrinking } from './free-pages.ts'
import { forgetDeletedWords } from './full-text.ts'
import { deriveKeys } from './project-keys.ts'
import { searchWords } from './search-words.ts'

export interface OpenDatabase {
  readonly db: Database
  /** Runs `work` as one transaction, rolled back if it throws. Not re-entrant. */
  transaction<T>(work: () => T): T
  /** Writes the journal into the file, beside the event loop. */
  checkpoint(): Promise<void>
  close(): void
  /**
   * The result of the check of the whole file after an unclean end: the damage, after the file was copied, or null
   * for a sound file or one that needed no check.
   */
  readonly damage: Promise<DatabaseUnusableError | null>
}

/** The file belongs to a later version; nothing in it was changed. */
class DatabaseTooNewError extends Error {
  override readonly name = 'DatabaseTooNewError'
  readonly code = 'database_too_new'
}

/** How long a write waits for another process that locks the file, which blocks everything else here too. */
const busyMs = 1_000
/** The same after a time-out, until a write succeeds. */
const stillBusyMs = 50

/**
 * Opens or creates the database and migrates it. Before migrating a file with data, copies it to `<file>.before-<n>`,
 * replacing the copy of an earlier update. Throws `DatabaseUnusableError` for a file that is visibly damaged (after
 * copying it), locked, or on a full or read-only disk. After an unclean end the whole file is checked in the
 * background.
 */
export async function openDatabase(file: string, migrationsFolder: string): Promise<OpenDatabase> {
  const existed = existsSync(file)
  const isFile = file !== ':memory:'
  const endedCleanly = isFile && takeCleanMark(file)
  const client = openFile(file)
  try {
    if (!existed) prepareShrinking(client, file, false)
    client.pragma('journal_mode = WAL')
    client.pragma('synchronous = NORMAL')
    // Shrinks the journal after a large write.
    client.pragma('journal_size_limit = 16777216')
    // Deleted tokens' hashes, environments and prompts must not remain in free pages.
    client.pragma('secure_delete = ON')
    // The triggers of the full-text index of tasks call it.
    client.function('search_words', { deterministic: true }, (title, description) =>
      searchWords(`${String(title)}\n${description === null ? '' : String(description)}`),
    )
    // A migration calls it to give existing projects their keys.
    client.function('derive_keys', { deterministic: true }, (projects) => deriveKeys(String(projects)))
    const applied = countApplied(client)
    const known = countKnown(migrationsFolder)
    if (applied > known) {
      throw new DatabaseTooNewError(
        `${file} was written by a newer Copse (${applied} migrations, this one knows ${known}). Update Copse.`,
      )
    }
    const isUpdate = existed && applied > 0 && applied < known
    if (isUpdate) {
      await client.backup(`${file}.before-${known}`)
      chmodSync(`${file}.before-${known}`, 0o600)
    }
    const db: Database = drizzle({ client })
    if (isUpdate) prepareShrinking(client, file, true)
    if (applied < known) migrateTo(client, db, { file, migrationsFolder })
    client.pragma('foreign_keys = ON')
    if (isUpdate) removeOlderCopies(file, known)
    forgetDeletedWords(client)
    // To undo a statement whose trigger fails, SQLite copies the pages that it changes, into pieces of 64 KB that it
    // allocates for each statement unless temporary data stays in memory: half the time of 1,000 new tasks. What a
    // migration and VACUUM, before this, need of it may be large.
    client.pragma('temp_store = MEMORY')
    client.pragma(`busy_timeout = ${busyMs}`)
    const checkpoints = createCheckpoints(client)
    const check = existed && isFile && !endedCleanly ? checkInBackground(file) : null
    let isDamaged = false
    const damage = (check?.found ?? Promise.resolve(null)).then((found) => {
      if (found === null || !client.open) return null
      isDamaged = true
      return damagedInUse(file, found)
    })
    return {
      db,
      transaction: transactionOf(client, checkpoints),
      checkpoint: () => checkpoints.run(),
      close: () => {
        if (!client.open) return
        void check?.stop()
        checkpoints.close()
        const isWhole = flush(client)
        client.close()
        if (isFile && isWhole && !isDamaged) leaveCleanMark(file)
      },
      damage,
    }
  } catch (error) {
    client.close()
    throw unusable(file, error) ?? error
  }
}

/**
 * Runs migrations with foreign keys off, because some rebuild a table: inside a transaction the pragma has no
 * effect.
 */
function migrateTo(
  client: SqliteDatabase.Database,
  db: Database,
  { file, migrationsFolder }: { readonly file: string; readonly migrationsFolder: string },
): void {
  client.pragma('foreign_keys = OFF')
  migrate(db, { migrationsFolder })
  const broken = client.pragma('foreign_key_check') as unknown[]
  if (broken.length > 0) throw new Error(`${file}: ${broken.length} rows point at nothing after the migration.`)
}

/** Runs one transaction after the other; while another process locks the file, each waits only briefly. */
function transactionOf(
  client: SqliteDatabase.Database,
  { committed }: Pick<Checkpoints, 'committed'>,
): OpenDatabase['transaction'] {
  const inTransaction = client.transaction((work: () => unknown) => work())
  let isHeld = false
  const setHeld = (held: boolean) => {
    if (held === isHeld) return
    isHeld = held
    client.pragma(`busy_timeout = ${held ? stillBusyMs : busyMs}`)
  }
  return <T>(work: () => T): T => {
    let value: T
    try {
      value = inTransaction.immediate(work) as T
      setHeld(false)
    } catch (error) {
      if (error instanceof SqliteDatabase.SqliteError && error.code.startsWith('SQLITE_BUSY')) setHeld(true)
      throw error
    }
    committed()
    return value
  }
}

/** Writes the journal into the file; returns false if that is impossible now, and the next start does it. */
function flush(client: SqliteDatabase.Database): boolean {
  try {
    client.pragma('wal_checkpoint(TRUNCATE)')
    return true
  } catch {
    return false
  }
}

/** Creates the file readable by its owner only; SQLite gives its other files the same mode. `:memory:` is no file. */
function openFile(file: string): SqliteDatabase.Database {
  if (file === ':memory:') return new SqliteDatabase(file)
  try {
    closeSync(openSync(file, 'a', 0o600))
    chmodSync(file, 0o600)
  } catch (error) {
    throw unusable(file, error) ?? error
  }
  return new SqliteDatabase(file, { timeout: 5_000 })
}

/** Removes older copies after a successful update: only the one from before it is useful. */
function removeOlderCopies(file: string, known: number): void {
  const beginning = `${basename(file)}.before-`
  for (const name of readdirSync(dirname(file))) {
    const number = name.startsWith(beginning) ? Number(name.slice(beginning.length)) : NaN
    if (number < known) rmSync(join(dirname(file), name))
  }
}

export function countApplied(client: SqliteDatabase.Database): number {
  const table = client.prepare(`SELECT 1 FROM sqlite_master WHERE name = '__drizzle_migrations'`).get()
  if (!table) return 0
  return (client.prepare('SELECT count(*) AS n FROM __drizzle_migrations').get() as { n: number }).n
}

export function countKnown(folder: string): number {
  const journal = JSON.parse(readFileSync(join(folder, 'meta', '_journal.json'), 'utf8')) as { entries: unknown[] }
  return journal.entries.length
}
