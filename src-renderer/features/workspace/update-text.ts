import type { BranchUpdate } from '../../../src-shared/contract/merges.ts'
import type { Workspace } from '../../../src-shared/contract/workspaces.ts'
import { count } from '../../formatters/format-amounts.ts'

/** Returns the result of an update. */
export function updateSentence(
  { outcome, strategy, rescue_ref, files }: Pick<BranchUpdate, 'outcome' | 'strategy' | 'rescue_ref' | 'files'>,
  base: string,
): string {
  const kept = rescue_ref === null ? '' : ' Its earlier commits are among the snapshots.'
  switch (outcome) {
    case 'updated':
      return strategy === 'rebase' ? `The branch is on top of ${base} now.${kept}` : `Up to date with ${base}.`
    case 'up_to_date':
      return `Already up to date with ${base}.`
    case 'agent':
      return `The agent is resolving ${count(files.length, 'conflicting file')}.`
    case 'editor':
      return `The merge is started in the worktree. ${count(files.length, 'file')} ${files.length === 1 ? 'waits' : 'wait'} for your editor.`
  }
}

const strategies = {
  merge: 'Merge keeps the commits and adds a merge commit.',
  rebase: 'Rebase replays the commits on top; the old ones are kept in a snapshot.',
} as const

/** Returns the expected changes and effects of an update. */
export function updateOffer(
  { behind, base_branch, dirty }: Pick<Workspace, 'behind' | 'base_branch' | 'dirty'>,
  strategy: BranchUpdate['strategy'],
): string {
  const first = `This branch is ${count(behind, 'commit')} behind ${base_branch}.`
  return [first, strategies[strategy], ...(dirty ? ['Uncommitted changes are committed first.'] : [])].join(' ')
}
