import { z } from 'zod'
import { TaskId } from './ids.ts'

const overlapKinds = ['conflict', 'same_lines_nearby'] as const

/** Two tasks whose worktrees change the same place. */
export const Overlap = z
  .object({
    a: TaskId,
    b: TaskId.describe('Greater than `a`.'),
    files: z.array(z.string()),
    kind: z
      .enum(overlapKinds)
      .describe(
        '`conflict`: git can’t merge both, what is uncommitted included. `same_lines_nearby`: it can, but they change lines at most three apart.',
      ),
  })
  .meta({ id: 'Overlap' })
export type Overlap = z.infer<typeof Overlap>

/** What a merge of a task's branch into its base would meet now. */
export const BaseConflict = z
  .object({
    commit: z.string().describe('The base’s commit.'),
    files: z.array(z.string()).describe('At least one.'),
  })
  .meta({ id: 'BaseConflict' })
export type BaseConflict = z.infer<typeof BaseConflict>
