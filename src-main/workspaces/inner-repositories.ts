import type { ErrorAnnotation } from '../../src-shared/contract/tasks.ts'
import type { Ground } from '../core/ground.ts'
import type { ProjectRecord } from '../ports/project-queries.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { BranchRef } from '../ports/branch-ref.ts'
import type { InnerRepositories } from '../ports/worktree-store.ts'
import { toSettings } from '../core/views.ts'
import { workspaceOwner } from '../core/workspace-of.ts'

/**
 * Converts nested repositories to plain files before the review, as the project's setting says. Returns the error that
 * blocks the task, if a person must decide about one or a submodule's commits are not pushed; else null.
 */
export async function settleInner(
  { places, store }: Pick<Ground, 'places' | 'store'>,
  task: TaskRecord,
  project: ProjectRecord,
  ref: BranchRef,
  signal: AbortSignal,
): Promise<ErrorAnnotation | null> {
  if (ref.path === null) return null
  const worktree = { ...ref, path: ref.path }
  const { worktrees } = places.of(task.id)
  const found = await worktrees.innerRepositories(worktree, { signal })
  const { held, absorbed } = sortInner(found, toSettings(project).nested_repositories)
  if (absorbed.length > 0) {
    await worktrees.absorbNested(worktree, workspaceOwner(store.read, task).id, absorbed, { signal })
  }
  if (held.length > 0) return nestedHeld(held)
  return found.unpushed.length > 0 ? notPushed(found.unpushed) : null
}

function sortInner({ nested }: InnerRepositories, setting: 'auto' | 'absorb' | 'hold') {
  const isHeld = (has_remote: boolean) => setting === 'hold' || (setting === 'auto' && has_remote)
  return {
    held: nested.filter(({ has_remote }) => isHeld(has_remote)).map(({ path }) => path),
    absorbed: nested.filter(({ has_remote }) => !isHeld(has_remote)).map(({ path }) => path),
  }
}

function nestedHeld(folders: readonly string[]): ErrorAnnotation {
  const which = folders.slice(0, 10).join(', ')
  return {
    type: 'nested_repository',
    message: `The worktree holds ${folders.length === 1 ? 'a repository' : 'repositories'} of its own: ${which}. Include the files, or leave the folder out. Its history is kept either way.`,
    folders: [...folders],
    recovery_actions: ['absorb_nested', 'ignore_nested'],
  }
}

function notPushed(folders: readonly string[]): ErrorAnnotation {
  const which = folders.slice(0, 10).join(', ')
  return {
    type: 'submodule_not_pushed',
    message: `${folders.length === 1 ? 'A submodule is' : 'Submodules are'} on a commit that no remote has: ${which}. No one else could check out the merge. Push it from there, then retry.`,
    folders: [...folders],
    recovery_actions: ['retry_hook'],
  }
}
