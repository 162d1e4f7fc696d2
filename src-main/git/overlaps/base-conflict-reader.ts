import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { BaseConflictReader, WorkOnBase } from '../../ports/base-conflict-reader.ts'
import type { MergeRequest } from '../../ports/branch-ref.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { knownMergeBase } from '../commands/branch.ts'
import { GitError } from '../commands/git-error.ts'
import { readGitLink } from '../commands/git-link.ts'
import { replay } from '../commands/merge.ts'
import { peekCommonDir, peekTips } from '../commands/peek.ts'
import { readTips } from '../commands/refs.ts'
import { unresolvedPaths } from '../commands/unmerged.ts'
import { explainFileError } from '../files/file-errors.ts'
import { readPlain } from '../files/plain-file.ts'
import { requireRepository } from '../worktree/moved-repository.ts'
import { mergePairs } from './merge-pairs.ts'
import { createObjectFolder, type ObjectFolder } from './object-folder.ts'
import { readUncommitted } from './uncommitted.ts'
import { createTipCache } from './tip-cache.ts'
import { writeCommits, type NewCommit } from './write-commits.ts'

interface ReaderOptions {
  readonly dataDir?: string | undefined
  /** Runs what asks git about a worktree, in turn with whatever else does. */
  readonly inTurn: <T>(path: string, work: () => Promise<T>) => Promise<T>
}

type Files = readonly string[] | null

/** Implements what is asked of branches and their bases. */
export function createBaseConflictReader({ dataDir, inTurn }: ReaderOptions): BaseConflictReader {
  const cache = createTipCache()
  const askGit = async (repo: string, branches: readonly string[], { signal }: Cancellable) => {
    await requireRepository(repo, { signal })
    const tips = await readTips(repo, branches, { signal })
    return new Map([...tips].map(([branch, { commit }]) => [branch, commit]))
  }
  const readBehind = async (
    repo: string,
    strategy: MergeRequest['strategy'],
    works: readonly WorkOnBase[],
    { signal }: Cancellable,
  ): Promise<readonly Files[]> => {
    if (works.length === 0) return []
    // All at once, and what git writes for it goes away again.
    const folder = await createObjectFolder(repo, `base-conflicts ${randomUUID()}`, dataDir, { signal })
    try {
      const commits = await commitAll(folder, works, { signal, inTurn })
      const pairs = works.map(({ base, head }, at) => [base, commits.get(at) ?? head] as const)
      const merged = (await mergePairs(repo, pairs, { signal, env: folder.env })).map((one) => one?.files ?? null)
      return strategy === 'rebase' ? await replayEach(repo, works, merged, { signal }) : merged
    } finally {
      await folder.remove()
    }
  }
  return {
    readTips: async (repo, branches, options) => {
      const common = await peekCommonDir(repo).catch(() => null)
      if (common === null) return await askGit(repo, branches, options)
      const read = async () => (await peekTips(common, branches)) ?? (await askGit(repo, branches, options))
      return await cache.get(common, branches, read)
    },
    readBaseConflicts: async (repo, strategy, works, { signal }) => {
      const current = new Set<WorkOnBase>()
      for (const work of works) if (await holdsBase(repo, work, { signal })) current.add(work)
      const behind = works.filter((work) => !current.has(work))
      const found = await readBehind(repo, strategy, behind, { signal })
      const files = new Map(behind.map((work, at) => [work, found[at] ?? null]))
      return works.map((work) => (current.has(work) ? [] : (files.get(work) ?? null)))
    },
  }
}

/** Returns whether work has all of its base, so that no merge of it can meet anything. */
async function holdsBase(
  repo: string,
  { head, base }: Pick<WorkOnBase, 'head' | 'base'>,
  { signal }: Cancellable,
): Promise<boolean> {
  if (head === base) return true
  try {
    return (await knownMergeBase(repo, base, head, { signal })) === base
  } catch (error) {
    if (!(error instanceof GitError) || signal.aborted) throw error
    return false
  }
}

/** Makes a commit of each work that is not all committed; returns them by the work's place. */
async function commitAll(
  folder: ObjectFolder,
  works: readonly WorkOnBase[],
  { signal, inTurn }: Cancellable & Pick<ReaderOptions, 'inTurn'>,
): Promise<ReadonlyMap<number, string>> {
  const dirty: { readonly at: number; readonly commit: NewCommit }[] = []
  for (const [at, { path, head }] of works.entries()) {
    if (path === null) continue
    const commit = await inTurn(path, () => readWork(folder, { path, head }, { signal }))
    if (commit !== null) dirty.push({ at, commit })
  }
  const ids = await writeCommits(
    folder,
    dirty.map(({ commit }) => commit),
    { signal },
  )
  return new Map(dirty.flatMap(({ at }, number) => (ids[number] === undefined ? [] : [[at, ids[number]] as const])))
}

/** Returns what a commit of a worktree would be now; null where nothing is uncommitted, or nothing can be read. */
async function readWork(
  { env }: ObjectFolder,
  { path, head }: { readonly path: string; readonly head: string },
  { signal }: Cancellable,
): Promise<NewCommit | null> {
  try {
    const changes = await readUncommitted(path, new Map(), null, { signal, env })
    // A merge that a person has begun and resolved meets nothing of that side again.
    const link = await readGitLink(path)
    const merge = link === null ? undefined : (await readPlain(join(link, 'MERGE_HEAD')))?.split('\n')[0]
    if (merge && (await unresolvedPaths(path, { signal })).length > 0) return null
    if (changes.size === 0 && !merge) return null
    return { from: head, changes, ...(merge && { merge }) }
  } catch (error) {
    const isUnreadable = error instanceof GitError || explainFileError(error) !== null
    if (!isUnreadable || signal.aborted) throw error
    return null
  }
}

/** A rebase replays commits one by one, so that it can conflict where a merge does not. */
async function replayEach(
  repo: string,
  works: readonly WorkOnBase[],
  merged: readonly Files[],
  { signal }: Cancellable,
): Promise<readonly Files[]> {
  const found: Files[] = []
  for (const [at, { base, head }] of works.entries()) {
    const before = merged[at] ?? null
    if (before === null || before.length > 0) {
      found.push(before)
      continue
    }
    try {
      found.push(await replayConflicts(repo, { base, head }, { signal }))
    } catch (error) {
      if (!(error instanceof GitError) || signal.aborted) throw error
      found.push(null)
    }
  }
  return found
}

/** The branch's own merges are not replayed: where it has some, what a merge comes to is taken (see `planMerge`). */
async function replayConflicts(
  repo: string,
  { base, head }: Pick<WorkOnBase, 'base' | 'head'>,
  { signal }: Cancellable,
): Promise<readonly string[]> {
  const replayed = await replay(repo, base, head, { signal })
  return replayed.kind === 'conflict' && !replayed.has_merges ? replayed.files : []
}
