import type { Rescue, RescueReason, RestoredRescue } from '../../../src-shared/contract/rescues.ts'
import { count } from '../../formatters/format-amounts.ts'

const reasons = {
  reset: 'Before a reset',
  removal: 'Before the worktree was removed',
  discard: 'Before the work was discarded',
  branch_deleted: 'Before its branch was deleted',
  rewritten: 'Before its commits were replaced',
  left: 'Commits that were on no branch',
  lost: 'After the worktree had lost its folder',
  nested: 'Before a repository inside the worktree became plain files, or was left out',
  unknown: 'Reason unknown',
} as const satisfies Record<RescueReason, string>

/** Returns the reason for the snapshot. */
export function rescueReason(rescue: Pick<Rescue, 'reason'>): string {
  return reasons[rescue.reason]
}

/** Returns the content of the snapshot: `3 files, uncommitted`, `1 file, committed, in lib/parser`. */
export function rescueContent({ files, kind, submodule }: Pick<Rescue, 'files' | 'kind' | 'submodule'>): string {
  const parts = [count(files, 'file'), kind === 'commits' ? 'committed' : 'uncommitted']
  if (submodule !== null) parts.push(`in ${submodule}`)
  return parts.join(', ')
}

/** The result of a restore. `branch` is set if the sentence needs it beside it, to be copied. */
export interface RestoreOutcome {
  readonly sentence: string
  readonly branch: string | null
}

const whyBranch = {
  no_worktree: 'There is no worktree.',
  busy: 'An agent is using the worktree.',
  conflicts: 'Files in the worktree have changed since, and none of them was overwritten.',
  commits: 'The snapshot contains commits.',
} as const satisfies Record<NonNullable<RestoredRescue['why_branch']>, string>

/** Returns the result of a restore, and why it didn't restore into the worktree. */
export function restoreOutcome(restored: RestoredRescue, files: number): RestoreOutcome {
  const what = `${count(files, 'file')} ${files === 1 ? 'is' : 'are'}`
  if (restored.to === 'worktree') {
    return { sentence: `${what} back in the worktree, not committed. The snapshot stays.`, branch: null }
  }
  const why = restored.why_branch === null ? '' : ` ${whyBranch[restored.why_branch]}`
  return {
    sentence: `${what} on a branch of ${files === 1 ? 'its' : 'their'} own.${why} The snapshot stays.`,
    branch: restored.branch,
  }
}
