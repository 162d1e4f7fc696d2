import type { TargetMover } from '../ports/target-mover.ts'
import { resolveTree } from './commands/branch.ts'
import { tipOf } from './commands/refs.ts'
import { fastForward } from './merge/fast-forward.ts'
import { landedSince, patchOf } from './merge/landed.ts'
import { checkMergeTarget, mergeIntoTarget, mergeTouches, moveTarget, prepareMerge } from './merge/merge-into-target.ts'
import { finishPendingMove } from './merge/pending-move.ts'
import { readHidden } from './merge/target-checkout.ts'
import { revertMerge } from './merge/revert-merge.ts'
import { hasCommit, undoMerge } from './merge/undo-merge.ts'
import { asWorkspaceError } from './workspace-errors.ts'
import { requireRepository } from './worktree/moved-repository.ts'
import type { GitParts } from './git-parts.ts'

/** Implements merges into branches of the user, one at a time per repository. */
export function createTargetMover({ perRepository, now }: GitParts): TargetMover {
  return {
    checkTarget: (ref, { signal }) =>
      asWorkspaceError(
        perRepository(ref.repo_path, { signal }, async () => ({ dirty: await checkMergeTarget(ref, { signal }) })),
      ),
    hiddenChanges: (ref, files, { signal }) => asWorkspaceError(readHidden(ref, files, { signal })),
    merge: (request, options) =>
      asWorkspaceError(perRepository(request.repo_path, options, () => mergeIntoTarget(request, options))),
    undoMerge: (request, { signal }) =>
      asWorkspaceError(
        requireRepository(request.repo_path, { signal }).then(() =>
          perRepository(request.repo_path, { signal }, () => undoMerge(request, { signal, now })),
        ),
      ),
    revertMerge: (request, { signal }) =>
      asWorkspaceError(
        requireRepository(request.repo_path, { signal }).then(() =>
          perRepository(request.repo_path, { signal }, () => revertMerge(request, { signal })),
        ),
      ),
    fastForward: (request, { signal }) =>
      asWorkspaceError(
        requireRepository(request.repo_path, { signal }).then(() =>
          perRepository(request.repo_path, { signal }, () => fastForward(request, { signal })),
        ),
      ),
    treeOf: (repo, commit, { signal }) =>
      asWorkspaceError(requireRepository(repo, { signal }).then(() => resolveTree(repo, commit, { signal }))),
    hasCommit: (repo, branch, commit, { signal }) =>
      asWorkspaceError(requireRepository(repo, { signal }).then(() => hasCommit(repo, branch, commit, { signal }))),
    tip: (repo, branch, { signal }) =>
      asWorkspaceError(requireRepository(repo, { signal }).then(() => tipOf(repo, branch, { signal }))),
    prepareMerge: (request, { signal }) =>
      asWorkspaceError(perRepository(request.repo_path, { signal }, () => prepareMerge(request, { signal }))),
    moveTarget: (merges, { signal }) =>
      asWorkspaceError(
        perRepository(merges[0]?.request.repo_path ?? '', { signal }, () => moveTarget(merges, { signal })),
      ),
    mergeTouches: (repo, prepared, files, { signal }) =>
      asWorkspaceError(mergeTouches(repo, prepared, files, { signal })),
    landedSince: (request, { signal }) => asWorkspaceError(landedSince(request, { signal })),
    patchOf: (repo, commit, bytes, { signal }) => asWorkspaceError(patchOf(repo, commit, bytes, { signal })),
    finishMerges: (repo, { signal }) =>
      asWorkspaceError(perRepository(repo, { signal }, () => finishPendingMove(repo, { signal }))),
  }
}
