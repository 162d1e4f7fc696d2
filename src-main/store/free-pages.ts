import { statSync } from 'node:fs'
import type SqliteDatabase from 'better-sqlite3'

const incremental = 2
/** Free pages are room for what is written next: so many stay, of 4 KB each, or a tenth of the file. */
const kept = 4_000
const keptShare = 0.1
/** To move a page takes about 20 µs, and many times that where the disk has to be read: a step is cut off by time. */
const step = 10
const stepMs = 4
/** A larger file takes too long to rewrite at a start; see docs/operating.md. */
const maxConverted = 256 * 1024 * 1024

/** Makes a file that can give pages back, while it is new; an existing file has to be rewritten for that. */
export function prepareShrinking(client: SqliteDatabase.Database, file: string, isUpdate: boolean): void {
  if (client.memory || client.pragma('auto_vacuum', { simple: true }) === incremental) return
  const isNew = client.pragma('page_count', { simple: true }) === 0
  if (!isNew && !(isUpdate && statSync(file).size <= maxConverted)) return
  client.pragma(`auto_vacuum = ${incremental}`)
  if (!isNew) client.exec('VACUUM')
}

/** Gives a few free pages back, if there are many; answers whether there still are. */
export function shrinkFile(client: SqliteDatabase.Database): boolean {
  if (client.pragma('auto_vacuum', { simple: true }) !== incremental) return false
  const count = () => Number(client.pragma('freelist_count', { simple: true }))
  const limit = Math.max(kept, keptShare * Number(client.pragma('page_count', { simple: true })))
  if (count() <= limit) return false
  const began = performance.now()
  do client.pragma(`incremental_vacuum(${step})`)
  while (count() > limit && performance.now() - began < stepMs)
  return count() > limit
}
