import { closeSync, openSync } from 'node:fs'
import SqliteDatabase from 'better-sqlite3'
import { countApplied } from './database.ts'

export { countKnown } from './database.ts'

export interface CopyOptions {
  readonly signal: AbortSignal
  /** Gets the share that is copied, from 0 to 1. */
  readonly onProgress: (share: number) => void
}

/** How many pages are copied before the process does other things. */
const pagesAtOnce = 1_024

/**
 * Copies a database as it is at one instant to a new file, also while a service writes to it: neither waits for the
 * other. The copy is readable by its owner only, and has no journal.
 */
export async function copyDatabase(from: string, to: string, { signal, onProgress }: CopyOptions): Promise<void> {
  // SQLite would create it readable by others.
  closeSync(openSync(to, 'wx', 0o600))
  const client = new SqliteDatabase(from, { readonly: true, fileMustExist: true, timeout: 5_000 })
  try {
    // All steps read the state of this transaction. Without it, each write of the service would restart the copy.
    client.exec('BEGIN')
    client.prepare('SELECT count(*) FROM sqlite_master').get()
    await client.backup(to, {
      progress: ({ totalPages, remainingPages }) => {
        signal.throwIfAborted()
        onProgress(totalPages === 0 ? 0 : 1 - remainingPages / totalPages)
        return pagesAtOnce
      },
    })
  } finally {
    client.close()
  }
  const copy = new SqliteDatabase(to, { fileMustExist: true })
  try {
    copy.pragma('journal_mode = DELETE')
  } finally {
    copy.close()
  }
}

export interface DatabaseCheck {
  /** How many migrations the file has had. */
  readonly applied: number
  /** What is wrong with the file; null if it is sound. */
  readonly damage: string | null
}

/** Reads the whole file and checks it. Only for a file that no one else uses. */
export function checkDatabase(file: string): DatabaseCheck {
  const client = new SqliteDatabase(file, { fileMustExist: true })
  try {
    const found = String(client.pragma('integrity_check(1)', { simple: true }))
    return { applied: countApplied(client), damage: found === 'ok' ? null : found }
  } catch (error) {
    const { code = '' } = error as { readonly code?: string }
    if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) return { applied: 0, damage: code }
    throw error
  } finally {
    client.close()
  }
}
