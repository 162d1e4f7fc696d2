import { GitError } from '../commands/git-error.ts'
import { readMerge } from '../commands/merge-output.ts'
import { runGit } from '../commands/run-git.ts'
import type { GitOptions } from '../commands/run-git.ts'

type Options = Pick<GitOptions, 'signal' | 'env'>

export interface MergedPair {
  readonly tree: string
  /** The files that conflict; none where git could merge all. */
  readonly files: readonly string[]
}

const unknownOption = 129

/** Merges pairs of commits in the object store, all by one process; null for a pair that git can't merge at all. */
export async function mergePairs(
  cwd: string,
  pairs: readonly (readonly [string, string])[],
  { signal, ...options }: Options,
): Promise<readonly (MergedPair | null)[]> {
  if (pairs.length === 0) return []
  const input = pairs.map(([one, other]) => `${one} ${other}\n`).join('')
  const args = ['merge-tree', '--write-tree', '-z', '--stdin', '--messages']
  try {
    const { stdout } = await runGit(cwd, args, { signal, ...options, input, access: 'write' })
    const found = splitMerges(stdout)
    if (found.length === pairs.length) return found.map((one, number) => toMerged(one, pairs[number] ?? []))
  } catch (error) {
    // `--stdin` came with git 2.39, and one pair that can't be merged ends it.
    if (!(error instanceof GitError) || signal.aborted) throw error
  }
  const merged: (MergedPair | null)[] = []
  for (const pair of pairs) merged.push(await mergeOne(cwd, pair, { signal, ...options }))
  return merged
}

async function mergeOne(cwd: string, pair: readonly [string, string], options: Options): Promise<MergedPair | null> {
  try {
    const args = ['merge-tree', '--write-tree', '-z', '--messages', ...pair]
    const { exit_code, stdout } = await runGit(cwd, args, { ...options, accept: [0, 1], access: 'write' })
    return toMerged({ isClean: exit_code === 0, output: stdout }, pair)
  } catch (error) {
    if (!(error instanceof GitError) || options.signal.aborted || error.exit_code === unknownOption) throw error
    return null
  }
}

interface OneMerge {
  readonly isClean: boolean
  /** As `merge-tree` prints it for one merge. */
  readonly output: Buffer
}

function toMerged({ isClean, output }: OneMerge, sides: readonly string[]): MergedPair {
  const { tree, paths } = readMerge({ exit_code: isClean ? 0 : 1, stdout: output }, sides)
  return { tree, files: [...new Set(paths.map(({ path }) => path))] }
}

/** Splits what `merge-tree --stdin` prints: for each merge its status, tree, stages, an empty field, messages, an empty field. */
function splitMerges(stdout: Buffer): readonly OneMerge[] {
  const fields = stdout.toString('latin1').split('\0')
  const merges: OneMerge[] = []
  for (let at = 0; at + 1 < fields.length;) {
    const start = at + 1
    let end = start + 1
    while (end < fields.length && fields[end] !== '') end += 1
    end += 1
    while (end < fields.length && fields[end] !== '') end += Number(fields[end]) + 3
    const output = Buffer.from(`${fields.slice(start, end).join('\0')}\0`, 'latin1')
    merges.push({ isClean: fields[at] === '1', output })
    at = end + 1
  }
  return merges
}
