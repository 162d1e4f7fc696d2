import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A file that only its owner can read, outside the worktree. */
export interface PromptFile {
  readonly path: string
  /** Removes it; twice is harmless. */
  remove(): Promise<void>
}

/** Writes a prompt where an agent can read it again; never on its command line, which everybody on the machine sees. */
export async function writePromptFile(prompt: string): Promise<PromptFile> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-prompt-'))
  const path = join(folder, 'prompt.md')
  const remove = async (): Promise<void> => await rm(folder, { recursive: true, force: true })
  try {
    await writeFile(path, prompt, { mode: 0o600 })
  } catch (error) {
    await remove()
    throw error
  }
  return { path, remove }
}
