import { runGit } from './run-git.ts'
import type { GitOptions } from './run-git.ts'
import { unmonitored } from './status.ts'

type Options = Pick<GitOptions, 'signal'>

interface Ignored {
  readonly files: ReadonlySet<string>
  /** Folders that are ignored as a whole. */
  readonly folders: ReadonlySet<string>
}

/** Returns what git ignores in a worktree; of a folder that it ignores as a whole, no files. */
export async function listIgnored(worktree: string, { signal }: Options): Promise<Ignored> {
  const paths = await ignoredPaths(worktree, 'utf8', { signal })
  return { files: new Set(paths.filter((path) => !path.endsWith('/'))), folders: foldersOf(paths) }
}

/** Returns the fully ignored folders of a worktree: paths as bytes, one character each. */
export async function ignoredFolders(worktree: string, { signal }: Options): Promise<ReadonlySet<string>> {
  return foldersOf(await ignoredPaths(worktree, 'latin1', { signal }))
}

async function ignoredPaths(
  worktree: string,
  encoding: 'utf8' | 'latin1',
  { signal }: Options,
): Promise<readonly string[]> {
  const args = [...unmonitored, 'ls-files', '-z', '--others', '--ignored', '--exclude-standard', '--directory']
  const { stdout } = await runGit(worktree, args, { signal })
  return stdout.toString(encoding).split('\0')
}

const foldersOf = (paths: readonly string[]): ReadonlySet<string> =>
  new Set(paths.filter((path) => path.endsWith('/')).map((path) => path.slice(0, -1)))

/** Returns whether git ignores all of these paths (as bytes, one character each); false if it is unknown. */
export async function areAllIgnored(worktree: string, paths: readonly string[], { signal }: Options): Promise<boolean> {
  // The dot keeps git from reading a name like `:(top)x` as a pattern.
  const input = Buffer.from(paths.map((path) => `./${path}\0`).join(''), 'latin1')
  const args = [...unmonitored, 'check-ignore', '-z', '--stdin']
  // 1: none is ignored. 128: a path lies in a submodule or behind a symlink.
  const { exit_code, stdout } = await runGit(worktree, args, { signal, input, accept: [0, 1, 128] })
  return exit_code === 0 && stdout.toString('latin1').split('\0').length - 1 === paths.length
}
