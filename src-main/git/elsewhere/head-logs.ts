import { open, readdir, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { orNull } from '../files/file-errors.ts'
import { readPlain } from '../files/plain-file.ts'

/** A line of a reflog. */
export interface LogLine {
  readonly to: string
  readonly message: string
}

/** Longer logs are read from here to their end. */
const maxBytes = 256 * 1024

/** Reads the newest lines of a reflog file, oldest first, from a byte on; empty where there is none. */
export async function readLog(file: string, from = 0): Promise<readonly LogLine[]> {
  const text = await readEnd(file, from)
  return text.split('\n').flatMap((line) => {
    const found = /^[0-9a-f]{40,64} ([0-9a-f]{40,64}) .*> \d+ [+-]\d{4}(?:\t(.*))?$/.exec(line)
    return found ? [{ to: found[1] ?? '', message: found[2] ?? '' }] : []
  })
}

async function readEnd(file: string, from: number): Promise<string> {
  const size = (await orNull(stat(file)))?.size ?? 0
  // A log that is shorter than it was has been rewritten.
  const start = Math.max(size < from ? 0 : from, size - maxBytes)
  if (size === start) return ''
  if (start === 0) return (await readPlain(file)) ?? ''
  const handle = await open(file)
  try {
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(size - start), position: start })
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await handle.close()
  }
}

/** Sizes of the HEAD logs of all checkouts of a repository, by record: what is longer later happened since. */
export type LogSizes = Readonly<Record<string, number>>

export async function readLogSizes(common: string): Promise<LogSizes> {
  const sizes = await Promise.all(
    (await listRecords(common)).map(async (record) => {
      const found = await orNull(stat(headLog(record)))
      return [record, found?.size ?? 0] as const
    }),
  )
  return Object.fromEntries(sizes)
}

async function listRecords(common: string): Promise<readonly string[]> {
  const names = (await orNull(readdir(join(common, 'worktrees')))) ?? []
  return [common, ...names.map((name) => join(common, 'worktrees', name))]
}

export const headLog = (record: string): string => join(record, 'logs', 'HEAD')

interface Checkouts {
  readonly common: string
  /** The record of the task's own worktree. */
  readonly record: string
  /** The folder below which Copse makes worktrees. */
  readonly root: string
  readonly sizes: LogSizes
}

/**
 * Returns the commits that other checkouts of the repository went to, or fetched, since then. A ref that is there was
 * moved by a person, or by another task's run, in that checkout: git writes both files only where it is called. A
 * checkout that is new and none of Copse's was made by the run.
 */
export async function movesElsewhere(
  { common, record, root, sizes }: Checkouts,
  since: number,
): Promise<ReadonlySet<string>> {
  const records = (await listRecords(common)).filter((one) => one !== record)
  const found = await Promise.all(
    records.map(async (folder) => {
      if (folder !== common && (await isMadeByRun(folder, root, since))) return []
      const log = await readLog(headLog(folder), sizes[folder])
      return [...log.map(({ to }) => to), ...(await readFetched(join(folder, 'FETCH_HEAD'), since))]
    }),
  )
  return new Set(found.flat())
}

async function isMadeByRun(record: string, root: string, since: number): Promise<boolean> {
  const file = join(record, 'gitdir')
  const found = await orNull(stat(file))
  if (found === null || found.mtimeMs < since) return false
  const link = (await readPlain(file)) ?? ''
  return relative(root, link.trim()).startsWith('..')
}

async function readFetched(file: string, since: number): Promise<readonly string[]> {
  const found = await orNull(stat(file))
  if (found === null || found.mtimeMs < since) return []
  const text = (await readPlain(file, 'latin1')) ?? ''
  return text.split('\n').flatMap((line) => /^[0-9a-f]{40,64}(?=\t)/.exec(line) ?? [])
}
