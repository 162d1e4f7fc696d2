import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

/**
 * Returns the paths at which the project of `cwd` may be registered: its repository's root, and for a git worktree
 * (also one of Copse's) the repository that it belongs to. Empty outside git.
 */
export function repositoriesOf(cwd: string): readonly string[] {
  const root = rootAbove(real(cwd))
  if (root === null) return []
  const common = commonFolder(root)
  const main = common === null ? null : basename(common) === '.git' ? dirname(common) : common
  return main === null || main === root ? [root] : [root, main]
}

/** Resolves symlinks; returns the path unchanged if nothing is there. */
export function real(path: string): string {
  return existsSync(path) ? realpathSync(path) : resolve(path)
}

function rootAbove(folder: string): string | null {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at
    if (dirname(at) === at) return null
  }
}

/** Returns the git directory that all worktrees of a repository share; null if `root` is not a worktree. */
function commonFolder(root: string): string | null {
  const entry = join(root, '.git')
  if (statSync(entry).isDirectory()) return null
  const ownGitDir = /^gitdir: (.+)$/m.exec(readFileSync(entry, 'utf8'))?.[1]
  if (ownGitDir === undefined) return null
  const gitDir = resolve(root, ownGitDir)
  const pointer = join(gitDir, 'commondir')
  return existsSync(pointer) ? real(resolve(gitDir, readFileSync(pointer, 'utf8').trim())) : null
}
