import { stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { orNull } from '../files/file-errors.ts'

type Tips = ReadonlyMap<string, string>

/** Remembers tips of branches as long as git has changed no ref beside them. */
export interface TipCache {
  /** Returns the tips of the branches: those known, else what `read` returns. `common`: the repository's common folder. */
  get(common: string, branches: readonly string[], read: () => Promise<Tips>): Promise<Tips>
}

/** Some file systems keep whole seconds, so a younger change may not be the last of its second. */
const settledMs = 3_000
/** What changes a ref in its place, which git never does, is seen after this time. */
const maxAgeMs = 60_000

interface KnownTips {
  readonly stamp: string
  readonly readAt: number
  readonly tips: Tips
}

export function createTipCache(now: () => number = Date.now): TipCache {
  const known = new Map<string, KnownTips>()
  return {
    get: async (common, branches, read) => {
      const key = `${common}\0${branches.join(' ')}`
      const cached = known.get(key)
      const { stamp, newest } = await readStamp(common, branches)
      const readAt = now()
      if (cached?.stamp === stamp && readAt - cached.readAt < maxAgeMs) return cached.tips
      const tips = await read()
      // Of each repository the last question is remembered.
      for (const other of known.keys()) if (other.startsWith(`${common}\0`)) known.delete(other)
      if (readAt - newest > settledMs) known.set(key, { stamp, readAt, tips })
      return tips
    },
  }
}

/**
 * Returns what differs once a ref was written: git moves each file of refs into its place, which
 * changes the folder. `newest` is the time of the last change, in ms.
 */
async function readStamp(common: string, branches: readonly string[]): Promise<{ stamp: string; newest: number }> {
  const folders = new Set(branches.map((branch) => dirname(join('refs', 'heads', branch))))
  const names = [...folders, 'packed-refs', join('reftable', 'tables.list')]
  const found = await Promise.all(names.map((name) => orNull(stat(join(common, name), { bigint: true }))))
  const parts = found.map((one) => one && `${one.ino} ${one.mtimeNs} ${one.ctimeNs} ${one.size}`)
  const times = found.map((one) => Number(one?.mtimeMs ?? 0))
  return { stamp: parts.join('\n'), newest: Math.max(...times) }
}
