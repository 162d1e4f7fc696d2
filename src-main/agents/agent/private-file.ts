import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A file outside the worktree that only this user can read. Disposing removes it; disposing twice is harmless. */
export interface PrivateFile extends AsyncDisposable {
  readonly path: string
}

/**
 * Writes a file for an agent: outside the worktree so that it can't be committed, and not on a command line, which
 * everyone on the machine can see.
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
