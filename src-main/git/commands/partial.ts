import { runGit } from './run-git.ts'
import type { GitOptions } from './run-git.ts'

/**
 * Counts the objects that a checkout of `commit` needs and a partial clone has not fetched; null if none is missing,
 * or it is no partial clone. Fetches nothing.
 */
export async function countMissing(
  repo: string,
  commit: string,
  { signal }: Pick<GitOptions, 'signal'>,
): Promise<{ readonly count: number; readonly remotes: readonly string[] } | null> {
  const wanted = ['config', '--null', '--get-regexp', '^(extensions\\.partialclone|remote\\..*\\.promisor)$']
  const remotes = new Set<string>()
  for (const entry of (await runGit(repo, wanted, { signal, accept: [0, 1] })).stdout.toString('utf8').split('\0')) {
    const key = entry.split('\n', 1)[0] ?? ''
    const value = entry.slice(key.length + 1)
    const name = /^remote\.(.*)\.promisor$/s.exec(key)?.[1]
    if (name !== undefined && value !== 'false') remotes.add(name)
    else if (key === 'extensions.partialclone') remotes.add(value)
  }
  if (remotes.size === 0) return null
  let count = 0
  let start = true
  await runGit(repo, ['rev-list', '--objects', '--no-object-names', '--missing=print', `${commit}^{tree}`], {
    signal,
    accept: [0, 128],
    onOutput: (chunk) => {
      // One line per object; those of missing ones begin with a question mark.
      for (const byte of chunk) {
        if (start && byte === 0x3f) count += 1
        start = byte === 0x0a
      }
      return 'more'
    },
  })
  return count === 0 ? null : { count, remotes: [...remotes] }
}
