import type { Stats } from 'node:fs'
import { stat } from 'node:fs/promises'

/** Returns whether there is a folder at `path`. */
export const isFolder = (path: string): Promise<boolean> => is(path, (found) => found.isDirectory())

/** Returns whether there is a file at `path`. */
export const isFile = (path: string): Promise<boolean> => is(path, (found) => found.isFile())

async function is(path: string, what: (found: Stats) => boolean): Promise<boolean> {
  try {
    return what(await stat(path))
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false
    throw error
  }
}
