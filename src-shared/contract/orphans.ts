import { z } from 'zod'
import { Timestamp } from './ids.ts'

export const Orphan = z
  .object({
    path: z.string(),
    kind: z
      .enum(['worktree', 'folder'])
      .describe('A worktree of a repository, or a folder that is none (or no longer).'),
    branch: z.string().nullable(),
    repo_path: z.string().nullable(),
    dirty: z.boolean().describe('It has changes that are not committed; a plain folder counts as such.'),
    size_bytes: z.int().describe('An estimate; of a big folder, of the files that were looked at.'),
    size_complete: z.boolean().describe('False: there is more than was looked at.'),
    changed_at: Timestamp.describe('When the newest of its files changed.'),
  })
  .meta({ id: 'Orphan' })
export type Orphan = z.infer<typeof Orphan>

export const RemovedOrphan = z
  .object({
    path: z.string(),
    rescues: z.array(z.string()).describe('The refs under which its work was kept, in its repository.'),
    moved_to: z
      .string()
      .nullable()
      .describe('Some of it fits into no commit, so the folder was renamed instead; null when it is gone.'),
  })
  .meta({ id: 'RemovedOrphan' })
export type RemovedOrphan = z.infer<typeof RemovedOrphan>
