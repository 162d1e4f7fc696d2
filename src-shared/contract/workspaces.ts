import { z } from 'zod'
import { ExecutionId, TaskId, Timestamp, WorkspaceId } from './ids.ts'

export const workspaceStatuses = ['creating', 'ready', 'cleanup_scheduled', 'cleaned', 'error'] as const
export type WorkspaceStatus = (typeof workspaceStatuses)[number]

export const Workspace = z
  .object({
    id: WorkspaceId,
    task_id: TaskId,
    status: z.enum(workspaceStatuses),
    branch: z.string(),
    path: z.string(),
    base_branch: z.string(),
    base_commit: z.string().nullable(),
    dirty: z.boolean(),
    ahead: z.int(),
    behind: z.int(),
    lock: z.object({ execution_id: ExecutionId, pid: z.int().nullable() }).nullable(),
    cleanup_at: Timestamp.nullable(),
    error: z.string().nullable(),
  })
  .meta({ id: 'Workspace' })
export type Workspace = z.infer<typeof Workspace>

export const diffScopes = ['uncommitted', 'branch'] as const

export const DiffFile = z.object({
  path: z.string(),
  old_path: z.string().nullable(),
  status: z.enum(['added', 'modified', 'deleted', 'renamed']),
  additions: z.int(),
  deletions: z.int(),
  binary: z.boolean(),
  truncated: z.boolean().describe('Its patch is over 1 MB and left out; ask for it with `path`.'),
})
export type DiffFile = z.infer<typeof DiffFile>

export const Diff = z
  .object({
    base: z.string().nullable(),
    files: z.array(DiffFile),
    patch: z.string().describe("git's own unified patch of the files that are not truncated."),
    truncated: z.boolean(),
  })
  .meta({ id: 'Diff' })
export type Diff = z.infer<typeof Diff>
