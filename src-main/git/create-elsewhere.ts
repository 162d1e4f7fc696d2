import type { Cancellable } from '../ports/cancellable.ts'
import type { BranchRef } from '../ports/branch-ref.ts'
import type { WorkElsewhere } from '../ports/work-elsewhere.ts'
import { readIgnoredSince } from './elsewhere/ignored-since.ts'
import { readLeftWork } from './elsewhere/left-refs.ts'
import { readRewrittenBase } from './elsewhere/rewritten-base.ts'
import { readRunTraces } from './elsewhere/run-traces.ts'
import { isOnBranch, settleHead } from './elsewhere/settle-head.ts'
import { keepCommit, leaveWork, replaceWork, takeWork } from './elsewhere/take-work.ts'
import type { GitParts } from './git-parts.ts'
import { asWorkspaceError, folderOf, ofRepository } from './workspace-errors.ts'
import { requireRepository } from './worktree/moved-repository.ts'

/** Returns what looks for work besides the tasks' branches. Its writes hold the worktree and the repository. */
export function createElsewhere({ worktrees, now, perRepository }: GitParts): WorkElsewhere {
  const changing = <T>(ref: BranchRef, { signal }: Cancellable, work: () => Promise<T>): Promise<T> =>
    ofRepository(ref, { signal }, () =>
      worktrees.run(folderOf(ref), () => perRepository(ref.repo_path, { signal }, work)),
    )
  return {
    runTraces: (ref, before, { signal }) => ofRepository(ref, { signal }, () => readRunTraces(ref, before, { signal })),
    settleHead: async (ref, { signal }) => {
      // The usual case needs neither git nor the locks.
      const isThere = await asWorkspaceError(isOnBranch(ref.path, ref.branch, { signal }))
      return isThere ? { taken: null, place: null } : await changing(ref, { signal }, () => settleHead(ref, { signal }))
    },
    leftWork: (ref, known, { signal }) => ofRepository(ref, { signal }, () => readLeftWork(ref, known, { signal })),
    rewrittenBase: (ref, { signal }) =>
      asWorkspaceError(requireRepository(ref.repo_path, { signal }).then(() => readRewrittenBase(ref, { signal }))),
    takeWork: (ref, task, place, message, { signal }) =>
      changing(ref, { signal }, () => takeWork(ref, task, place, message, { signal, now })),
    leaveWork: (ref, task, place, { signal }) =>
      changing(ref, { signal }, () => leaveWork(ref, task, place, { signal, now })),
    keepCommit: (ref, task, commit, { signal }) =>
      changing(ref, { signal }, () => keepCommit(ref, task, commit, { signal, now })),
    replaceWork: (ref, task, commit, { signal }) =>
      changing(ref, { signal }, () => replaceWork(ref, task, commit, { signal, now })),
    ignoredSince: (path, since, { signal }) => asWorkspaceError(readIgnoredSince(path, since, { signal })),
  }
}
