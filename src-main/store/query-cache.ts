import type SqliteDatabase from 'better-sqlite3'
import type { Database } from './database-type.ts'

type Key = string | number

/** Maximum of cached results per query. */
const maxAnswers = 2_000

/** Results read from one connection since its last write. */
interface Memory {
  /** Returns the number of rows that SQLite has written over this connection, by any statement. */
  readonly countChanges: () => number
  readonly answers: Map<string, unknown>[]
  changes: number
}

const memories = new WeakMap<SqliteDatabase.Database, Memory>()

/**
 * Caches a query's results until anything is written. The rows that every request reads (the token's owner and their
 * rights) cost more than the rest of a small request. Reads inside a transaction are not cached, because it may be
 * rolled back. Results are shared, so they are frozen.
 */
export function cachedQuery<K extends readonly Key[], R>(db: Database, read: (...key: K) => R): (...key: K) => R {
  const { $client: client } = db
  const memory = memoryOf(client)
  const answers = new Map<string, unknown>()
  memory.answers.push(answers)
  return (...key) => {
    const changes = memory.countChanges()
    const name = key.length === 1 ? String(key[0]) : key.join('\0')
    const known = changes === memory.changes ? answers.get(name) : undefined
    if (known !== undefined) return known as R
    const answer = read(...key)
    if (client.inTransaction) return answer
    if (changes !== memory.changes) forget(memory, changes)
    if (answers.size >= maxAnswers) answers.clear()
    answers.set(name, freeze(answer))
    return answer
  }
}

function memoryOf(client: SqliteDatabase.Database): Memory {
  const known = memories.get(client)
  if (known) return known
  const statement = client.prepare<[], number>('SELECT total_changes()').pluck()
  const memory: Memory = { countChanges: () => statement.get() ?? 0, answers: [], changes: 0 }
  memories.set(client, memory)
  return memory
}

function forget(memory: Memory, changes: number): void {
  for (const answers of memory.answers) answers.clear()
  memory.changes = changes
}

function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const inner of Object.values(value)) freeze(inner)
  return Object.freeze(value)
}
