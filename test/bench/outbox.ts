import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import SqliteDatabase from 'better-sqlite3'

/** The product's database, read beside it: asking the product itself would be work within its round. */
export interface Outbox extends Disposable {
  /** Settles once nothing that belongs to a transition is left to do, to the millisecond. */
  emptied(): Promise<void>
  /** How many transitions into each state have exactly these outcomes of hooks, as `state: phase action outcome, …`. */
  outcomes(): ReadonlyMap<string, number>
}

/** Opens the outbox of the product in `dataDir`, for reading. */
export function openOutbox(dataDir: string): Outbox {
  const database = new SqliteDatabase(join(dataDir, 'copse.db'), { readonly: true })
  const pending = database.prepare<[], number>('SELECT count(*) FROM effects').pluck()
  const outcomes = database.prepare<[], { outcomes: string; n: number }>(
    `SELECT outcomes, count(*) AS n FROM (
       SELECT to_state || ': ' || coalesce((
         SELECT group_concat((value ->> 'phase') || ' ' || (value ->> 'action') || ' ' || (value ->> 'outcome'), ', ')
         FROM json_each(hooks)), '') AS outcomes
       FROM transitions)
     GROUP BY outcomes`,
  )
  return {
    // No event tells that the last hook of all is done: the ones that had nothing to do are no news.
    emptied: async () => {
      while ((pending.get() ?? 0) > 0) await setTimeout(1)
    },
    outcomes: () => new Map(outcomes.all().map((row) => [row.outcomes, row.n])),
    [Symbol.dispose]: () => void database.close(),
  }
}
