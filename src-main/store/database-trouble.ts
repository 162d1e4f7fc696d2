import { copyFileSync, existsSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'

/** The file can't be used as it is. The message is one line with the reason and what to do. */
export class DatabaseUnusableError extends Error {
  override readonly name = 'DatabaseUnusableError'
  readonly code = 'database_unusable'
}

/** Returns whether an error comes from SQLite or was caused by one. */
export function isDatabaseError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_')
}

/** Converts an error of SQLite or the file system to one that says what to do; returns null for any other. */
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
    "it can't be written. Check its owner, its permissions and its disk.",
  ],
  [/^(SQLITE_FULL|ENOSPC|EDQUOT)/, 'the disk is full. Make room and start again.'],
  [/^SQLITE_IOERR/, 'the disk reports an error. Check the disk, and keep a copy of the file.'],
]

/** Copies the file with its journal before anyone tries to repair it, and returns the error. */
function damaged(file: string, what: string, options?: ErrorOptions): DatabaseUnusableError {
  const copies = copiesOf(file)
  for (const [from, to] of copies.pairs) copyFileSync(from, to)
  return new DatabaseUnusableError(damageText(file, what, copies.name), options)
}

/** Does the same for a file in use, without blocking its use. */
export async function damagedInUse(file: string, what: string): Promise<DatabaseUnusableError> {
  const copies = copiesOf(file)
  try {
    for (const [from, to] of copies.pairs) await copyFile(from, to)
  } catch (error) {
    const message = `${file} is damaged (${what}), and no copy of it could be kept. Stop Copse, and copy the data folder.`
    return new DatabaseUnusableError(message, { cause: error })
  }
  return new DatabaseUnusableError(damageText(file, what, copies.name))
}

const damageText = (file: string, what: string, copy: string): string =>
  `${file} is damaged (${what}). A copy was kept as ${copy}. Put an older copy in its place, or repair it with "sqlite3 … .recover".`

/** Returns what to copy where: the file, and its journal. */
function copiesOf(file: string): { readonly name: string; readonly pairs: readonly (readonly [string, string])[] } {
  const base = `${file}.damaged`
  let name = base
  for (let number = 2; existsSync(name); number++) name = `${base}-${number}`
  const journal = existsSync(`${file}-wal`) ? ([[`${file}-wal`, `${name}-wal`]] as const) : []
  return { name, pairs: [[file, name], ...journal] }
}
