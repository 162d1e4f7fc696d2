import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { runGit } from './run-git.ts'
import type { GitOptions } from './run-git.ts'
import { makeTemporary } from './temporary-folder.ts'

/**
 * Returns the paths that the attributes of a tree call generated (`linguist-generated`). Reads no attributes of a
 * worktree, with which a branch could hide its own changes.
 */
export async function findGenerated(
  cwd: string,
  tree: string,
  paths: readonly string[],
  { signal }: Pick<GitOptions, 'signal'>,
): Promise<ReadonlySet<string>> {
  if (paths.length === 0) return new Set()
  const folder = await makeTemporary('attributes')
  try {
    // `check-attr --source` needs git 2.40; an index of that tree does the same.
    const env = { GIT_INDEX_FILE: join(folder, 'index') }
    await runGit(cwd, ['read-tree', tree], { signal, env, access: 'write' })
    const input = paths.map((path) => `${path}\0`).join('')
    const args = ['check-attr', '--cached', '-z', '--stdin', 'linguist-generated']
    const fields = (await runGit(cwd, args, { signal, env, input })).stdout.toString('utf8').split('\0')
    const found = new Set<string>()
    for (let at = 0; at + 2 < fields.length; at += 3) {
      const value = fields[at + 2]
      if (value === 'set' || value === 'true') found.add(fields[at] ?? '')
    }
    return found
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
