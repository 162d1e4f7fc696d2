import { runGit } from './run-git.ts'
import type { GitOptions } from './run-git.ts'

/** Returns which of these words are in any file of a tree. */
export async function findWords(
  cwd: string,
  tree: string,
  words: readonly string[],
  { signal }: Pick<GitOptions, 'signal'>,
): Promise<ReadonlySet<string>> {
  if (words.length === 0) return new Set()
  const asked = new Set(words)
  const found = new Set<string>()
  let rest = ''
  const onOutput = (chunk: Buffer): 'more' | 'enough' => {
    const lines = (rest + chunk.toString('utf8')).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (asked.has(line)) found.add(line)
    return found.size === asked.size ? 'enough' : 'more'
  }
  // `--text`, because attributes of the worktree must not hide a file as binary.
  const form = ['--text', '--word-regexp', '--fixed-strings', '--only-matching', '-h', '--no-color', '--no-textconv']
  const args = ['grep', ...form, '--no-recurse-submodules', ...words.flatMap((word) => ['-e', word]), tree]
  // 1: no match.
  await runGit(cwd, args, { signal, onOutput, accept: [0, 1] })
  return found
}
