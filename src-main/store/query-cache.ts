import type SqliteDatabase from 'better-sqlite3'
import { getTableName } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Database } from './database-type.ts'

type Key = string | number
type Answers = Map<string, unknown>

/** Maximum of cached results per query. */
const maxAnswers = 2_000

/** The cached results of one connection, by the table that they were read from. */
const memories = new WeakMap<SqliteDatabase.Database, Map<string, Answers[]>>()

/**
 * Caches the results of a query of one table until a row of the table is written, by any statement or foreign key of
 * this connection. The rows that every request reads (the token's owner and their rights) cost more than the rest of
 * a small request. First reads inside a transaction are not cached, because it may be rolled back. Results are shared,
 * so they are frozen.
 */
export function cachedQuery<K extends readonly Key[], R>(
  db: Database,
  table: SQLiteTable,
  read: (...key: K) => R,
): (...key: K) => R {
  const { $client: client } = db
  const answers: Answers = new Map()
  answersOf(client, getTableName(table)).push(answers)
  return (...key) => {
    const name = key.length === 1 ? String(key[0]) : key.join('\0')
    const known = answers.get(name)
    if (known !== undefined) return known as R
    const answer = read(...key)
    if (client.inTransaction) return answer
    if (answers.size >= maxAnswers) answers.clear()
    answers.set(name, freeze(answer))
    return answer
  }
}

function answersOf(client: SqliteDatabase.Database, table: string): Answers[] {
  const memory = memories.get(client) ?? rememberFor(client)
  const known = memory.get(table)
  if (known) return known
  // Triggers see what no statement names: the rows that a foreign key deletes or changes.
  for (const change of ['INSERT', 'UPDATE', 'DELETE']) {
    client.exec(
      `CREATE TEMP TRIGGER "forget_${table}_${change}" AFTER ${change} ON main."${table}"
       BEGIN SELECT forget_answers('${table}'); END`,
    )
  }
  const answers: Answers[] = []
  memory.set(table, answers)
  return answers
}

function rememberFor(client: SqliteDatabase.Database): Map<string, Answers[]> {
  const memory = new Map<string, Answers[]>()
  memories.set(client, memory)
  client.function('forget_answers', (table) => {
    for (const answers of memory.get(String(table)) ?? []) answers.clear()
    return null
  })
  return memory
}

function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const inner of Object.values(value)) freeze(inner)
  return Object.freeze(value)
}
