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
