import type { ConflictHunk } from '../../src-shared/contract/conflicts.ts'
import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { ExecutionId } from '../../src-shared/contract/ids.ts'
import type { updateStrategies } from '../../src-shared/contract/merges.ts'
import { count } from '../workspaces/rules/conflict-text.ts'
import type { Ground } from '../core/ground.ts'
import type { UpdateResult } from '../ports/branch-updater.ts'
import { toConflictHunks } from '../workspaces/to-conflict-hunks.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { WorkspaceRecord } from '../ports/workspace-queries.ts'

export interface UpdatedBranch {
  readonly outcome: 'updated' | 'up_to_date' | 'agent' | 'editor'
  readonly strategy: (typeof updateStrategies)[number]
  readonly head: string
  readonly base: string
  readonly rescue_ref: string | null
  readonly path: string
  readonly files: readonly string[]
  readonly hunks: readonly ConflictHunk[]
  /** The follow-up that resolves the conflict. */
  readonly execution_id: ExecutionId | null
}

export type Conflict = Extract<UpdateResult, { kind: 'conflict' }>

/** The result of an attempt to update, and the workspace in which it was made. */
export interface Attempt {
  readonly task: TaskRecord
  readonly workspace: WorkspaceRecord
  readonly path: string | null
  readonly result: UpdateResult
}

/** Returns the result for the caller, if no conflict is left that needs an editor. */
export function answerOf(strategy: UpdatedBranch['strategy'], { workspace, result }: Attempt): UpdatedBranch | Refusal {
  const { path } = workspace
  const none = { strategy, path, rescue_ref: null, files: [], hunks: [], execution_id: null }
  switch (result.kind) {
    case 'updated': {
      const { head, base, rescue_ref } = result
      return { ...none, outcome: 'updated', strategy: result.strategy, head, base, rescue_ref }
    }
    case 'up_to_date':
      return { ...none, outcome: 'up_to_date', head: result.head, base: result.base }
    case 'conflict': {
      const { head, base, files, hunks } = result
      return { ...none, outcome: 'editor', strategy: 'merge', head, base, files, hunks }
    }
    case 'in_the_way':
      return {
        code: 'workspace_failed',
        message: `Files in ${path} that git does not keep are where ${workspace.base_branch} has others: ${result.files.slice(0, 20).join(', ')}. Move them away, then try again.`,
        details: { files: result.files },
      }
  }
}

/** The refusal for a conflict that changed nothing; its details list the conflicts. */
export function conflictRefusal(
  context: Ground,
  { task, workspace }: Attempt,
  { left, files, hunks }: Conflict,
): Refusal {
  const { base_branch, branch, path } = workspace
  const what = left
    ? `A merge of ${base_branch} is in progress in ${path}, and ${count(files)} still. Resolve it there`
    : `${base_branch} does not merge into ${branch}: ${count(files)}. Open the conflict in your editor`
  return {
    code: 'merge_conflict',
    message: `${what}, or let the coder resolve it.`,
    details: { files, hunks: toConflictHunks(context, task, hunks), left },
  }
}

/** The refusal if there is no worktree (any more) in which a conflict could be resolved. */
export function workspaceGoneRefusal(why: string | null): Refusal {
  const message = why ?? 'The worktree was removed during the update. Try again.'
  return { code: 'workspace_failed', message }
}
