import type { DiffSides } from './diff.ts'
import { runGit, splitNul } from './run-git.ts'
import type { GitOptions } from './run-git.ts'

type Options = Pick<GitOptions, 'signal'>

/** Enough for the paths of a very large tree. */
const maxOutput = 256 * 1024 * 1024

/** Lists the files of the second side. */
export async function listFiles({ cwd, to, env }: DiffSides, { signal }: Options): Promise<readonly string[]> {
  const args =
    to === null
      ? ['ls-files', '-z', '--cached', '--full-name', ':/']
      : ['ls-tree', '-r', '-z', '--name-only', '--full-tree', to]
  return splitNul((await runGit(cwd, args, { signal, env, maxOutput })).stdout)
}
