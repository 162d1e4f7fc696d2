import type { ConflictHunk } from '../../../src-shared/contract/conflicts.ts'
import { count, filesPart, hunkParts } from '../../workspaces/rules/conflict-text.ts'

export interface StackConflict {
  readonly branch: string
  readonly onto_branch: string
  readonly onto: string
  /** The commit that the branch's own commits lie on. */
  readonly lies_on: string
  /** The task below; `is_below` is false once it has landed or was given up. */
  readonly lower: { readonly ref: string; readonly title: string; readonly is_below: boolean } | null
  readonly files: readonly string[]
  readonly hunks: readonly ConflictHunk[]
}

/** Returns the prompt for the coder of a branch that does not fit on the one that it is to lie on. */
export function stackConflictPrompt(facts: StackConflict): string {
  const { branch, onto_branch, onto, lies_on, lower, files, hunks } = facts
  const named = lower && `${lower.ref} (“${lower.title}”)`
  const why =
    lower?.is_below === true
      ? `This task is stacked on ${named}, whose branch has changed.`
      : `This branch is no longer stacked on ${named ?? 'another task'}.`
  return [
    `## Lay this branch on ${onto_branch}`,
    `${why} Your branch (${branch}) is to lie on ${onto_branch} now, and ${count(files)}. This time it is your part to bring it there:`,
    [
      `1. Run \`git rebase --onto ${onto} ${lies_on}\`: ${onto.slice(0, 12)} is ${onto_branch} as it is now, ${lies_on.slice(0, 12)} is where your own commits begin.`,
      '2. Resolve each conflict and keep the intent of both sides. Where they exclude each other, the task decides. Leave no conflict markers behind.',
      '3. Stage what you resolved (`git add`, `git rm`) and continue with `git -c core.editor=true rebase --continue`, until the rebase is finished.',
      '4. Check that the whole still works, then finish as before. Do not push, and do not switch branches.',
    ].join('\n'),
    filesPart(hunks, files),
    ...hunkParts(hunks),
  ].join('\n\n')
}
