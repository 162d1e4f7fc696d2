import { constants } from 'node:fs'
import { open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { orNull } from '../files/file-errors.ts'
import { openFolder, type Folder } from '../files/folder.ts'

/**
 * Removes from a worktree's record, which its runs write themselves, what git never makes there: a link would lead
 * what Copse and its git write to any file of the person, a pipe would hold their reads for ever.
 */
export async function cleanRecord(record: string): Promise<void> {
  await using folder = await openFolder(record, '')
  await clean(folder)
}

async function clean(folder: Folder): Promise<void> {
  const entries = (await orNull(readdir(folder.at, { withFileTypes: true }))) ?? []
  for (const entry of entries) {
    if (entry.isFile()) continue
    if (entry.isDirectory()) {
      // A run may have put a link in its place since, which stays for the next time.
      await using child = await folder.child(entry.name).catch(() => null)
      if (child !== null) await clean(child)
      continue
    }
    const path = join(folder.at, entry.name)
    if (entry.isFIFO()) await releaseReaders(path)
    await rm(path, { force: true, recursive: true })
  }
}

const { O_RDWR, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants

/** Ends the reads that already wait for this pipe. */
async function releaseReaders(path: string): Promise<void> {
  const handle = await open(path, O_RDWR | O_NONBLOCK | O_NOFOLLOW).catch(() => null)
  await handle?.close()
}
