import { constants } from 'node:fs'
import { open, rm, writeFile } from 'node:fs/promises'

const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants
/** More is no file of git's that Copse reads whole. */
const maxBytes = 64 * 1024 * 1024

/**
 * Reads a file in a folder that runs write; null where there is none, and for a link, a pipe, whose read would never
 * end, and a file that is too large.
 */
export async function readPlain(file: string, encoding: 'utf8' | 'latin1' = 'utf8'): Promise<string | null> {
  return (await readPlainBytes(file, maxBytes))?.toString(encoding) ?? null
}

/** Reads such a file as bytes. */
export async function readPlainBytes(file: string, max: number): Promise<Buffer | null> {
  const handle = await open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => null)
  if (handle === null) return null
  try {
    const found = await handle.stat()
    return found.isFile() && found.size <= max ? await handle.readFile() : null
  } finally {
    await handle.close()
  }
}

/** Writes a file in a folder that runs write, in the place of whatever has its name. */
export async function writePlain(file: string, text: string, encoding: 'utf8' | 'latin1' = 'utf8'): Promise<void> {
  await rm(file, { recursive: true, force: true })
  await writeFile(file, text, { encoding, flag: 'wx' })
}
