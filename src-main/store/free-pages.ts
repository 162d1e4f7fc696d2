import { statSync } from 'node:fs'
import type SqliteDatabase from 'better-sqlite3'

const incremental = 2
/** Free pages hold what is written next: this many are kept, of 4 KB each, or a tenth of the file. */
const minFreePages = 4_000
const minFreeShare = 0.1
/**
 * Number of pages per step. Moving a page takes about 20 µs, and far longer if the disk must be read, so a step is
 * also limited by time.
 */
const step = 10
const stepMs = 4
/** Rewriting a larger file at a start takes too long; see docs/operating.md. */
const maxConverted = 256 * 1024 * 1024

/** Enables shrinking: a new file is created for it; an existing one must be rewritten. */
export function prepareShrinking(client: SqliteDatabase.Database, file: string, isUpdate: boolean): void {
  if (client.memory || client.pragma('auto_vacuum', { simple: true }) === incremental) return
  const isNew = client.pragma('page_count', { simple: true }) === 0
  if (!isNew && !(isUpdate && statSync(file).size <= maxConverted)) return
  client.pragma(`auto_vacuum = ${incremental}`)
  if (!isNew) client.exec('VACUUM')
}

/** Frees a few pages if there are many; returns whether more are left. */
export function shrinkFile(client: SqliteDatabase.Database): boolean {
  if (client.pragma('auto_vacuum', { simple: true }) !== incremental) return false
  const count = () => Number(client.pragma('freelist_count', { simple: true }))
  const limit = Math.max(minFreePages, minFreeShare * Number(client.pragma('page_count', { simple: true })))
  if (count() <= limit) return false
  const began = performance.now()
  do client.pragma(`incremental_vacuum(${step})`)
  while (count() > limit && performance.now() - began < stepMs)
  return count() > limit
}
