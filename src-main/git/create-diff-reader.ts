import { resolve } from 'node:path'
import type { DiffReader } from '../ports/diff-reader.ts'
import { readCommitDiff, readCommits, readMessages } from './branch-commits.ts'
import { readDiffFindings } from './diff-findings.ts'
import { readDiff, readDiffStat } from './read-diff.ts'
import { readBranchHunks, readBranchSources } from './read-hunks.ts'
import { findOnlyIgnored } from './only-ignored.ts'
import { findWords } from './commands/find-words.ts'
import { createSharedWatches } from './watch/shared-watches.ts'
import { watchWorktree } from './watch/watch-worktree.ts'
import { readLinesSince } from './work.ts'
import { asWorkspaceError, folderOf, ofRepository } from './workspace-errors.ts'
import type { GitParts } from './git-parts.ts'

/** Implements reading and watching the changes of a task. */
export function createDiffReader({ indexes, log, reads, shown }: GitParts): DiffReader {
  const watches = createSharedWatches((root, news) =>
    watchWorktree(root, news, { inTurn: (work) => reads.inTurn(root, work), ...(log && { log }) }),
  )
  return {
    diff: (ref, scope, file, { signal, ...wishes }) =>
      ofRepository(ref, { signal }, () =>
        reads.run({ place: folderOf(ref), what: JSON.stringify([ref, scope, file, wishes]) }, signal, (shared) =>
          readDiff(ref, scope, file, { ...wishes, indexes, signal: shared }).then((taken) => {
            shown.note(taken)
            return taken.diff
          }),
        ),
      ),
    commits: (ref, { signal }) => ofRepository(ref, { signal }, () => readCommits(ref, { signal })),
    commitDiff: (ref, commit, file, { signal, ...wishes }) =>
      ofRepository(ref, { signal }, () => readCommitDiff(ref, commit, file, { ...wishes, signal })),
    // In turn with the diff: the later of the two takes up the index that the earlier has made.
    findings: (ref, { signal }) =>
      ofRepository(ref, { signal }, () =>
        reads.inTurn(folderOf(ref), () => readDiffFindings(ref, { signal, indexes })),
      ),
    messages: (ref, { signal }) => ofRepository(ref, { signal }, () => readMessages(ref, { signal })),
    diffStat: (ref, { signal }) => ofRepository(ref, { signal }, () => readDiffStat(ref, { signal, indexes })),
    hunks: (ref, { signal }) =>
      ofRepository(ref, { signal }, () =>
        reads.run({ place: folderOf(ref), what: JSON.stringify(['hunks', ref]) }, signal, (shared) =>
          readBranchHunks(ref, { signal: shared, indexes }),
        ),
      ),
    sources: (ref, isKnown, { signal }) =>
      ofRepository(ref, { signal }, () =>
        reads.inTurn(folderOf(ref), () => readBranchSources(ref, isKnown, { signal, indexes })),
      ),
    wordsIn: (ref, tree, words, { signal }) =>
      ofRepository(ref, { signal }, () => findWords(ref.repo_path, tree, words, { signal })),
    onlyIgnored: (ref, paths, { signal }) =>
      ofRepository(ref, { signal }, () => findOnlyIgnored(ref, paths, { signal })),
    lineChanges: (ref, since, places, { signal }) =>
      ofRepository(ref, { signal }, () => readLinesSince(ref, since, places, { signal })),
    watch: (path, news) => asWorkspaceError(watches.open(resolve(path), news)),
  }
}
