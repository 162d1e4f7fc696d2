import SqliteDatabase from 'better-sqlite3'

/** Which writes to a database fail, counted from now on, how many in a row, and with what error. */
export interface FailingCommits {
  readonly at: number
  readonly times: number
  readonly code: 'SQLITE_BUSY' | 'SQLITE_FULL' | 'SQLITE_IOERR_WRITE'
}

interface Counter {
  written: number
  failed: number
  failing: FailingCommits | null
}

const counters = new Map<string, Counter>()

/**
 * Counts the commits to the database in `dataDir` from now on, and lets some of them fail, like a full disk or
 * another process that holds the file. Every retry of the product counts too.
 */
export function countCommits(dataDir: string, failing: FailingCommits | null): { readonly counter: Readonly<Counter> } {
  const counter = { written: 0, failed: 0, failing }
  counters.set(dataDir, counter)
  return { counter }
}

type Work = (...args: never[]) => unknown

const transactionOf = SqliteDatabase.prototype.transaction

SqliteDatabase.prototype.transaction = function failing(this: SqliteDatabase.Database, work: Work) {
  const counted = (...args: never[]) => {
    const before = changesOf(this)
    const value = work(...args)
    if (changesOf(this) > before) failIfTold(this)
    return value
  }
  return transactionOf.call(this, counted as (...args: unknown[]) => unknown)
} as typeof transactionOf

// A write outside a transaction is a commit of its own.
const statement = Object.getPrototypeOf(new SqliteDatabase(':memory:').prepare('SELECT 1')) as SqliteDatabase.Statement
const runOf = statement.run.bind.bind(statement.run) as (
  self: SqliteDatabase.Statement,
) => SqliteDatabase.Statement['run']
statement.run = function failing(this: SqliteDatabase.Statement, ...args: unknown[]) {
  if (!this.database.inTransaction && !this.readonly) failIfTold(this.database)
  return runOf(this)(...args)
}

function changesOf(database: SqliteDatabase.Database): number {
  return database.prepare<[], number>('SELECT total_changes()').pluck().get() ?? 0
}

function failIfTold({ name }: SqliteDatabase.Database): void {
  const counter = [...counters].find(([dataDir]) => name.startsWith(dataDir))?.[1]
  if (!counter) return
  const { failing } = counter
  counter.written += 1
  if (failing === null || counter.written < failing.at || counter.written >= failing.at + failing.times) return
  counter.failed += 1
  throw new SqliteDatabase.SqliteError(`made to fail as commit ${counter.written}`, failing.code)
}
