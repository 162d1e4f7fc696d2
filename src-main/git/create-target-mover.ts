import type { TargetMover } from '../ports/target-mover.ts'
import { tipOf } from './commands/refs.ts'
import { landedSince, patchOf } from './merge/landed.ts'
import { checkMergeTarget, mergeIntoTarget, mergeTouches, moveTarget, prepareMerge } from './merge/merge-into-target.ts'
import { finishPendingMove } from './merge/pending-move.ts'
import { readHidden } from './merge/target-checkout.ts'
import { asWorkspaceError } from './workspace-errors.ts'
import { requireRepository } from './worktree/moved-repository.ts'
import type { GitParts } from './git-parts.ts'

/** Implements merges into branches of the user, one at a time per repository. */
export function createTargetMover({ perRepository }: GitParts): TargetMover {
  return {
    checkTarget: (ref, { signal }) =>
      asWorkspaceError(
        perRepository(ref.repo_path, { signal }, async () => ({ dirty: await checkMergeTarget(ref, { signal }) })),
      ),
    hiddenChanges: (ref, files, { signal }) => asWorkspaceError(readHidden(ref, files, { signal })),
    merge: (request, { signal }) =>
      asWorkspaceError(perRepository(request.repo_path, { signal }, () => mergeIntoTarget(request, { signal }))),
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
