import type SqliteDatabase from 'better-sqlite3'
import type { Database } from './database-type.ts'

type Key = string | number

/** So many answers of one question are kept. */
const maxAnswers = 2_000

/** What was read from one connection since its last write. */
interface Memory {
  /** Everything that SQLite has written over this connection, by whichever statement. */
  readonly countChanges: () => number
  readonly answers: Map<string, unknown>[]
  changes: number
}

const memories = new WeakMap<SqliteDatabase.Database, Memory>()

/**
 * The same question, answered from memory until anything at all is written: the rows that every request asks for, who
 * shows a token, what they may, cost more than the rest of a small request. What a transaction reads is not kept, for
 * it may be rolled back. Nobody may change an answer, which others get too; it is frozen.
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
