import { stat } from 'node:fs/promises'
import { orNull } from './file-errors.ts'

/** Returns a value that changes whenever the file is written to or replaced; `none` if there is none. */
export async function fileState(path: string): Promise<string> {
  const found = await orNull(stat(path, { bigint: true }))
  return found === null ? 'none' : [found.ino, found.size, found.mtimeNs, found.ctimeNs].join('-')
}
