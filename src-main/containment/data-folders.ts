import { existsSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

/** Places outside of home in which services keep their data. */
const places = ['/var/lib', '/srv', '/opt', '/data', '/var/tmp']
/** The database marks a folder of a Copse, whichever service or version it is of. */
const marker = 'copse.db'
/** Looking takes some milliseconds, and a new Copse is rare. */
const keptMs = 60_000

/** Returns the data folders of every Copse in the usual places, beside this one's and the CLI's included. */
export function createDataFolders(own: string, usual: string): () => readonly string[] {
  let known: readonly string[] = []
  let lookedAt = Number.NEGATIVE_INFINITY
  return () => {
    if (performance.now() - lookedAt < keptMs) return known
    lookedAt = performance.now()
    const parents = [dirname(own), dirname(usual), homedir(), ...places]
    const found = [...new Set(parents)].flatMap((parent) => foldersIn(parent)).filter((folder) => isData(folder))
    known = [...new Set([own, usual, ...found])]
    return known
  }
}

const isData = (folder: string): boolean => existsSync(join(folder, marker))

function foldersIn(parent: string): readonly string[] {
  try {
    const entries = readdirSync(parent, { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(parent, name))
  } catch {
    return []
  }
}
