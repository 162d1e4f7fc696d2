import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { orNull } from '../files/file-errors.ts'

/** Returns the target of a worktree's `.git` file; null if there is no such file. */
export async function readGitLink(path: string): Promise<string | null> {
  try {
    const text = await orNull(readFile(join(path, '.git'), 'utf8'))
    return text?.startsWith('gitdir: ') ? resolve(path, text.slice('gitdir: '.length).trim()) : null
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EISDIR') return null
    throw error
  }
}
