import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

/**
 * The folders that the project of `cwd` may be kept under: the root of its repository, and for a git worktree
 * (also one of Copse's own) the repository that it belongs to. Empty outside of git.
 */
export function repositoriesOf(cwd: string): readonly string[] {
  const root = rootAbove(real(cwd))
  if (root === null) return []
  const common = commonFolder(root)
  const main = common === null ? null : basename(common) === '.git' ? dirname(common) : common
  return main === null || main === root ? [root] : [root, main]
}

/** The path with its links followed; as it is where nothing is there. */
export function real(path: string): string {
  return existsSync(path) ? realpathSync(path) : resolve(path)
}

function rootAbove(folder: string): string | null {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at
    if (dirname(at) === at) return null
  }
}

/** Where a worktree's repository keeps what all of its worktrees share; null for one that is no worktree. */
function commonFolder(root: string): string | null {
  const entry = join(root, '.git')
  if (statSync(entry).isDirectory()) return null
  const own = /^gitdir: (.+)$/m.exec(readFileSync(entry, 'utf8'))?.[1]
  if (own === undefined) return null
  const gitDir = resolve(root, own)
  const pointer = join(gitDir, 'commondir')
  return existsSync(pointer) ? real(resolve(gitDir, readFileSync(pointer, 'utf8').trim())) : null
}
