import type { Cancellable } from '../ports/cancellable.ts'
import type { BranchMessage } from '../ports/diff-reader.ts'
import type { BranchRef } from '../ports/branch-ref.ts'
import { listAdded, listFiles } from './commands/list-files.ts'
import { runGit } from './commands/run-git.ts'
import { compareBranch, findSides } from './read-diff.ts'
import type { WorktreeIndexes } from './commands/worktree-index.ts'

const maxNames = 50
const maxMessages = 500

/**
 * Returns names of files and folders of the work, one of each group new, that a file system without case or with one
 * form of accents takes for one.
 */
export async function readSameNames(
  ref: BranchRef,
  { signal, indexes }: Cancellable & { readonly indexes: WorktreeIndexes },
): Promise<readonly string[]> {
  return await compareBranch(ref, { signal, indexes }, async (sides) => {
    const added = [...(await listAdded(sides, { signal })), ...sides.unread.map(({ path }) => path)]
    return added.length === 0 ? [] : findSameNames(await listFiles(sides, { signal }), added).slice(0, maxNames)
  })
}

/** Returns the spellings of each name that has more than one, if one of them is only in `added`. */
function findSameNames(files: readonly string[], added: readonly string[]): readonly string[] {
  const isAdded = new Set(added)
  const old = new Set(files.filter((path) => !isAdded.has(path)).flatMap(withFolders))
  const spellings = new Map<string, Set<string>>()
  for (const name of new Set([...files, ...added].flatMap(withFolders))) {
    const folded = fold(name)
    spellings.set(folded, (spellings.get(folded) ?? new Set()).add(name))
  }
  const same = [...spellings.values()].filter((names) => names.size > 1 && [...names].some((name) => !old.has(name)))
  // Names below a folder of two spellings say nothing more.
  const all = new Set(same.flatMap((names) => [...names]))
  return [...all].filter((name) => !all.has(folderOf(name))).sort()
}

function withFolders(path: string): readonly string[] {
  const names = [path]
  for (let folder = folderOf(path); folder !== ''; folder = folderOf(folder)) names.push(folder)
  return names
}

const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')))

/** Upper case first, so that `ß` is `ss`; HFS+ ignores characters without width. */
const fold = (name: string): string =>
  name
    .replaceAll(/[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, '')
    .normalize('NFD')
    .toUpperCase()
    .toLowerCase()
    .normalize('NFC')

/** Reads the messages of a branch's commits, newest first. */
export async function readMessages(ref: BranchRef, { signal }: Cancellable): Promise<readonly BranchMessage[]> {
  const { cwd, base, head } = await findSides(ref, 'branch', { signal, since: null })
  if (head === null || head === base) return []
  const range = base === null ? [head] : [head, `^${base}`]
  const args = ['log', '-z', '-n', String(maxMessages), '--no-show-signature', '--encoding=UTF-8', '--format=%H%n%B']
  const { stdout } = await runGit(cwd, [...args, ...range, '--'], { signal })
  const records = stdout.toString('utf8').split('\0')
  return records
    .filter((one) => one !== '')
    .map((one) => ({ id: one.slice(0, one.indexOf('\n')), message: one.slice(one.indexOf('\n') + 1) }))
}
