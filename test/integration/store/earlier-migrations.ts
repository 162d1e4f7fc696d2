import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type SqliteDatabase from 'better-sqlite3'
import { migrations } from './open-store.ts'

interface Journal {
  readonly entries: readonly { readonly idx: number; readonly tag: string }[]
}

/** Returns the migrations as they were before the one with this number. */
export async function earlierMigrations(folder: string, next: number): Promise<string> {
  const earlier = join(folder, 'migrations')
  await cp(migrations, earlier, { recursive: true })
  const path = join(earlier, 'meta/_journal.json')
  const journal = JSON.parse(await readFile(path, 'utf8')) as Journal
  const kept = journal.entries.filter((entry) => entry.idx < next)
  const dropped = journal.entries.filter((entry) => entry.idx >= next)
  await writeFile(path, JSON.stringify({ ...journal, entries: kept }))
  for (const { tag } of dropped) await rm(join(earlier, `${tag}.sql`))
  return earlier
}

/** Inserts a row as the earlier version did. */
export function insert(
  client: SqliteDatabase.Database,
  table: string,
  row: Record<string, string | number | null>,
): void {
  const names = Object.keys(row)
  client
    .prepare(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map((name) => `@${name}`).join(', ')})`)
    .run(row)
}
