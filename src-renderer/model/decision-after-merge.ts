import type { Task } from '../../src-shared/contract/tasks.ts'

type Merged = NonNullable<Task['merged']>

/** Returns what was merged, and the ways back: at once while that is possible, and by a task. */
export function afterMerge(merged: Merged, undoable: boolean, refused: string | null) {
  const undo = {
    id: 'unmerge',
    label: 'Undo merge',
    hint: `Moves ${merged.base_branch} back. The task stays approved.`,
    refused,
    command: 'undo-merge',
    deed: { kind: 'unmerge' },
  } as const
  const revert = {
    id: 'revert',
    label: 'Revert',
    hint: 'Creates a task that takes it back.',
    refused,
    command: null,
    deed: { kind: 'revert' },
  } as const
  const sentence = { text: `Merged as ${shortCommit(merged)}`, tone: 'neutral' } as const
  return undoable ? { sentence, primary: undo, others: [revert] } : { sentence, primary: revert, others: [] }
}

/** The commit that the base branch was moved to, as people write it. */
export const shortCommit = ({ commit }: Merged): string => commit.slice(0, 7)
