import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A file that only this user can read, outside the worktree. Disposing removes it; twice is harmless. */
export interface PrivateFile extends AsyncDisposable {
  readonly path: string
}

/**
 * Writes what an agent reads from a file: outside the worktree, so that it can't be committed, and not
 * on a command line, which everybody on the machine sees.
 */
export async function writePrivateFile(name: string, text: string): Promise<PrivateFile> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-run-'))
  const path = join(folder, name)
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true })
  try {
    await writeFile(path, text, { mode: 0o600 })
  } catch (error) {
    await remove()
    throw error
  }
  return { path, [Symbol.asyncDispose]: remove }
}
