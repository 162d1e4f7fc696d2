import SqliteDatabase from 'better-sqlite3'
import { vi } from 'vitest'
import { createStore } from '../../../src-main/store/create-store.ts'
import type { OpenStore } from './open-store.ts'

/** The statements that are prepared while `work` runs. */
export function preparedBy(work: () => void): string[] {
  const prepare = vi.spyOn(SqliteDatabase.prototype, 'prepare')
  try {
    work()
    return prepare.mock.calls.map(([sql]) => sql)
  } finally {
    prepare.mockRestore()
  }
}

/** The statements that the store prepares when it is opened. */
export const preparedOnce = (open: OpenStore): string[] => preparedBy(() => createStore(open.database))

/** SQLite's plan for each of these queries; writing statements are left out. */
export function explain(file: string, texts: readonly string[]): [sql: string, plan: string][] {
  const client = new SqliteDatabase(file, { readonly: true })
  try {
    return texts
      .filter((sql) => /^select/i.test(sql))
      .map((sql) => {
        const parameters = Array.from(sql.matchAll(/\?/g), () => 1)
        const rows = client.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters) as { detail: string }[]
        return [sql, rows.map((row) => row.detail).join('\n')]
      })
  } finally {
    client.close()
  }
}
