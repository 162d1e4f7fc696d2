import SqliteDatabase from 'better-sqlite3'

// Loaded before the service, makes it die at a commit of the parent's choice. It counts the transactions that write
// something after the parent's first message; the product does not know about it.

/** Counts from now on, and dies right before or after the commit with this number (null: never). */
export interface CountCommits {
  readonly die: { readonly at: number; readonly when: 'before' | 'after' } | null
}

/** One entry per commit, in order; true where a transition or its steps moved on. */
export type Commits = readonly boolean[]

type Work = (...args: never[]) => unknown

let die: CountCommits['die'] = null
const commits: boolean[] = []
let counting = false

process.on('message', (message: CountCommits | 'commits') => {
  if (message === 'commits') {
    process.send?.(commits)
    return
  }
  die = message.die
  counting = true
})

const transactionOf = SqliteDatabase.prototype.transaction

SqliteDatabase.prototype.transaction = function mortal(this: SqliteDatabase.Database, work: Work) {
  let wrote = false
  const noted = (...args: never[]) => {
    const before = counting ? look(this) : null
    const value = work(...args)
    const after = before === null ? null : look(this)
    wrote = before !== null && after !== null && after.changes > before.changes
    if (wrote) {
      commits.push(before?.steps !== after?.steps)
      dieAt('before')
    }
    return value
  }
  const run = transactionOf.call(this, noted as (...args: unknown[]) => unknown)
  const immediate = (...args: unknown[]) => {
    const value = run.immediate(...args)
    if (wrote) dieAt('after')
    return value
  }
  return Object.assign((...args: unknown[]) => run(...args), { ...run, immediate })
} as typeof transactionOf

function look(database: SqliteDatabase.Database): { readonly changes: number; readonly steps: string } {
  return (
    database
      .prepare<[], { changes: number; steps: string }>(
        `SELECT total_changes() AS changes, (SELECT count(*) FROM transitions) || '|' || coalesce(
         (SELECT group_concat(id || data) FROM effects), '') || '|' || coalesce(
         (SELECT group_concat(id || data) FROM pending_hooks), '') AS steps`,
      )
      .get() ?? { changes: 0, steps: '' }
  )
}

function dieAt(when: 'before' | 'after'): void {
  if (die?.when === when && die.at === commits.length) process.kill(process.pid, 'SIGKILL')
}
