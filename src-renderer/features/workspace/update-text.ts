import type { BranchUpdate } from '../../../src-shared/contract/merges.ts'
import type { Workspace } from '../../../src-shared/contract/workspaces.ts'
import { count } from '../../formatters/format-amounts.ts'

/** What an update of a branch did. */
export function updateSentence(
  { outcome, strategy, rescue_ref, files }: Pick<BranchUpdate, 'outcome' | 'strategy' | 'rescue_ref' | 'files'>,
  base: string,
): string {
  const kept = rescue_ref === null ? '' : ' Its earlier commits are among the snapshots.'
  switch (outcome) {
    case 'updated':
      return strategy === 'rebase'
        ? `The branch is on top of ${base} now.${kept}`
        : `The branch has all of ${base} now.`
    case 'up_to_date':
      return `The branch has all of ${base} already.`
    case 'agent':
      return `The agent has the conflict in ${count(files.length, 'file')} and works on it.`
    case 'editor':
      return `The merge is begun in the worktree. ${count(files.length, 'file')} ${files.length === 1 ? 'waits' : 'wait'} for your editor.`
  }
}

const strategies = {
  merge: 'A merge keeps the branch’s commits and ties them to it with one more.',
  rebase: 'A rebase puts the branch’s commits on top of it; the commits as they were are kept as a snapshot.',
} as const

/** What an update would bring and do. */
export function updateOffer(
  { behind, base_branch, dirty }: Pick<Workspace, 'behind' | 'base_branch' | 'dirty'>,
  strategy: BranchUpdate['strategy'],
): string {
  const first = `${base_branch} has ${count(behind, 'commit')} that this branch does not have.`
  return [first, strategies[strategy], ...(dirty ? ['What is not committed is committed first.'] : [])].join(' ')
}
