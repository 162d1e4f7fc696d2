import { chmod, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode } from './file-errors.ts'

/** Deletes a folder with its content, also read-only content; does nothing if there is none. */
export async function deleteFolder(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true, maxRetries: 3 })
  } catch (error) {
    if (!hasCode(error, 'EACCES') && !hasCode(error, 'EPERM')) throw error
    // Package managers create read-only folders, and only a writable folder can be emptied.
    await makeWritable(path)
    await rm(path, { recursive: true, force: true, maxRetries: 3 })
  }
}

async function makeWritable(path: string): Promise<void> {
  await chmod(path, 0o700)
  for (const entry of await readdir(path, { withFileTypes: true })) {
    if (entry.isDirectory()) await makeWritable(join(path, entry.name))
  }
}
