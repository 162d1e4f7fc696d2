import { z } from 'zod'
import { Timestamp } from './ids.ts'

/**
 * Why work was saved: before a reset, removal or discard of its workspace; because a branch was deleted or its
 * history rewritten; because the worktree had commits on no branch when it returned to its own (`left`), or had lost
 * its folder (`lost`); because a nested repository was converted to plain files or removed (`nested`); or for no
 * stated reason.
 */
export const rescueReasons = [
  'reset',
  'removal',
  'discard',
  'branch_deleted',
  'rewritten',
  'left',
  'lost',
  'nested',
  'unknown',
] as const
export type RescueReason = (typeof rescueReasons)[number]

export const rescueTimestamp = /^\d{8}T\d{9}Z(?:-\d{1,2})?$/

export const Rescue = z
  .object({
    ref: z.string().describe('Its full name in the repository: `refs/svc/rescue/{task id}/{timestamp}`.'),
    task_id: z.string().describe('The task it was kept for; that may have been deleted since.'),
    timestamp: z.string().describe('The last part of `ref`; with `task_id` it names the rescue.'),
    commit: z.string(),
    created_at: Timestamp,
    reason: z.enum(rescueReasons),
    kind: z
      .enum(['uncommitted', 'commits'])
      .describe('What was not committed, as a commit on top of where the worktree was; or commits of a branch.'),
    files: z.int().describe('How many files it changes.'),
    submodule: z.string().nullable().describe('The path of the submodule whose work it is; null: of the repository.'),
    repo_path: z.string(),
  })
  .meta({ id: 'Rescue' })
export type Rescue = z.infer<typeof Rescue>

export const RestoredRescue = z
  .object({
    to: z.enum(['worktree', 'branch']).describe('Into the worktree as uncommitted changes, or as a new branch.'),
    branch: z.string().describe('The new branch, or the one that the worktree is on.'),
    path: z.string().nullable().describe('The worktree that has the files now; null for a branch.'),
    why_branch: z
      .enum(['no_worktree', 'busy', 'conflicts', 'commits'])
      .nullable()
      .describe('There is no worktree, a run is using it, its files changed since, or commits were kept.'),
  })
  .meta({ id: 'RestoredRescue' })
export type RestoredRescue = z.infer<typeof RestoredRescue>
