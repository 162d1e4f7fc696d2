import { copyFileSync, existsSync } from 'node:fs'
import type SqliteDatabase from 'better-sqlite3'

/** The file can't be worked with as it is. The message is one line that says why, and what to do. */
export class DatabaseUnusableError extends Error {
  override readonly name = 'DatabaseUnusableError'
  readonly code = 'database_unusable'
}

/** Reads every page once. Throws SQLite's own error, or `DatabaseUnusableError`, at the first that is damaged. */
export function checkPages(client: SqliteDatabase.Database, file: string): void {
  const found = client.pragma('quick_check(1)', { simple: true })
  if (found !== 'ok') throw damaged(file, String(found))
}

/** What a person can make of an error of SQLite or of the file system; null for any other. */
export function unusable(file: string, error: unknown): DatabaseUnusableError | null {
  if (error instanceof DatabaseUnusableError) return error
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) return damaged(file, code, { cause: error })
  const why = reasons.find(([pattern]) => pattern.test(code))?.[1]
  return why === undefined
    ? null
    : new DatabaseUnusableError(`${file} cannot be used: ${why} (${code})`, { cause: error })
}

const reasons: readonly (readonly [code: RegExp, why: string])[] = [
  [/^SQLITE_(BUSY|LOCKED)/, 'another program holds it. Close that program, or wait until it is done.'],
  [
    /^(SQLITE_READONLY|SQLITE_CANTOPEN|EACCES|EROFS|EPERM)/,
    'it cannot be written. Look at its owner, its mode and its disk.',
  ],
  [/^(SQLITE_FULL|ENOSPC|EDQUOT)/, 'the disk is full. Make room and start again.'],
  [/^SQLITE_IOERR/, 'the disk reports an error. Look after the disk, and keep a copy of the file.'],
]

/** Before anybody tries to mend it: the file as it was found, with the journal that belongs to it. */
function damaged(file: string, what: string, options?: ErrorOptions): DatabaseUnusableError {
  const copy = keep(file)
  return new DatabaseUnusableError(
    `${file} is damaged (${what}). A copy was kept as ${copy}. Put an older copy in its place, or mend it with "sqlite3 … .recover".`,
    options,
  )
}

function keep(file: string): string {
  const base = `${file}.damaged`
  let copy = base
  for (let number = 2; existsSync(copy); number++) copy = `${base}-${number}`
  copyFileSync(file, copy)
  if (existsSync(`${file}-wal`)) copyFileSync(`${file}-wal`, `${copy}-wal`)
  return copy
}
