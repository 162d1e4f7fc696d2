import { z } from 'zod'
import { ExecutionId, RunnerId, TaskId, Timestamp, WorkspaceId } from './ids.ts'

export const workspaceStatuses = ['creating', 'ready', 'cleanup_scheduled', 'cleaned', 'error'] as const
export type WorkspaceStatus = (typeof workspaceStatuses)[number]

export const Workspace = z
  .object({
    id: WorkspaceId,
    task_id: TaskId,
    status: z.enum(workspaceStatuses),
    branch: z.string(),
    path: z.string(),
    runner_id: RunnerId.describe('Where its runs, checks and hooks happen: where its last run did.'),
    arrived_at: Timestamp.nullable().describe('Of a worktree elsewhere, when its work last arrived; null of one here.'),
    left_there: z.array(z.string()).describe('Of a worktree elsewhere, the files that stay there.'),
    base_branch: z.string(),
    base_commit: z.string().nullable(),
    port_base: z
      .int()
      .nullable()
      .describe(
        'The first of ten ports that are this worktree’s alone for its life (`SVC_PORT_BASE`); null until it is made, when it is cleaned, and where none was free.',
      ),
    dirty: z.boolean(),
    ahead: z.int(),
    behind: z.int(),
    lock: z.object({ execution_id: ExecutionId, pid: z.int().nullable() }).nullable(),
    cleanup_at: Timestamp.nullable(),
    error: z.string().nullable(),
    created_at: Timestamp,
  })
  .meta({ id: 'Workspace' })
export type Workspace = z.infer<typeof Workspace>

export const diffScopes = ['uncommitted', 'branch'] as const

const omissionReasons = ['too_large', 'budget', 'binary'] as const

export const FolderSize = z.object({
  size_bytes: z.int().describe("Of the files, not of the disk's blocks: what several worktrees share counts in each."),
  size_complete: z.boolean().describe('False: there are more files than were looked at.'),
})
export type FolderSize = z.infer<typeof FolderSize>

export const DiffFile = z.object({
  path: z.string().describe('Bytes of a name that are no UTF-8 come as U+FFFD, here and in the patch.'),
  old_path: z.string().nullable(),
  status: z.enum(['added', 'modified', 'deleted', 'renamed']),
  old_mode: z.string().nullable().describe('Like `100644`; null where there was no file.'),
  new_mode: z.string().nullable().describe('Like `100755`; null where there is none now.'),
  blob: z
    .string()
    .nullable()
    .describe(
      "git's id of the new content, another word of a file that is too large to be read; null when it is deleted. With `new_mode` it tells one content from another.",
    ),
  additions: z.int(),
  deletions: z.int(),
  binary: z.boolean(),
  truncated: z.boolean().describe('Its patch is left out to keep the answer small; ask for it with `path`.'),
  reason: z
    .enum(omissionReasons)
    .nullable()
    .describe(
      'Why its lines are not in the patch: `too_large`, its own patch is over 1 MB; `budget`, those before it made 8 MB; `binary`, it has none.',
    ),
  viewed: z
    .boolean()
    .describe('The caller has marked all of its hunks, or the file, whose content is still what it was then.'),
})
export type DiffFile = z.infer<typeof DiffFile>

/** A full object ID, of either hash. */
export const SeenTree = z
  .string()
  .regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/, 'Give the full id of the tree.')
  .optional()

/** A commit's ID or the beginning of it. */
export const CommitName = z.string().regex(/^[0-9a-f]{7,64}$/, 'Give at least 7 digits of the commit’s id.')

export const BranchCommit = z
  .object({
    id: z.string(),
    subject: z.string().describe('The first line of its message.'),
    author: z.string(),
    authored_at: Timestamp,
    is_merge: z.boolean(),
  })
  .meta({ id: 'BranchCommit' })
export type BranchCommit = z.infer<typeof BranchCommit>

/** A file with the content that a reader saw, as `DiffFile` names it. */
export const ViewedContent = z.object({
  path: z.string().min(1).max(10_000),
  blob: z.string().max(200).nullable(),
  new_mode: z.string().max(20).nullable(),
})
export type ViewedContent = z.infer<typeof ViewedContent>

export const Diff = z
  .object({
    base: z.string().nullable(),
    head: z.string().nullable().describe('The commit that the branch is on; null where there is no branch yet.'),
    tree: z
      .string()
      .nullable()
      .describe(
        'The object id of everything that this diff could show, uncommitted included, whatever `scope` and `path`; null where there is no branch yet. Send it with the verdict or transition that is about it.',
      ),
    files: z.array(DiffFile),
    patch: z.string().describe("git's own unified patch of the files that are not truncated."),
    truncated: z.boolean(),
  })
  .meta({ id: 'Diff' })
export type Diff = z.infer<typeof Diff>
