import { join } from 'node:path'
import { createWorkspaces } from '../../../src-main/workspaces/create-workspaces.ts'
import type { BranchRef, MergeRequest, Workspaces, WorktreeRequest } from '../../../src-main/engine/ports.ts'
import { TaskId } from '../../../src-shared/contract/ids.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import type { TestRepository } from '../../helpers/git-repository.ts'

export const taskId = TaskId.parse('01912d68-783e-7a03-8467-5661c1243ad4')
export const branch = 'copse/add-a-button-c1243ad4'
export const never = { signal: new AbortController().signal }

/** A repository and what a task's worktree beside it is called; not made yet. */
export interface WorkspaceFixture extends AsyncDisposable {
  readonly repository: TestRepository
  readonly workspaces: Workspaces
  /** Where the task's worktree goes. */
  readonly path: string
  /** The root of all workspaces. */
  readonly root: string
  request(changes?: Partial<WorktreeRequest>): WorktreeRequest
  ref(changes?: Partial<BranchRef>): BranchRef & { readonly path: string }
  mergeRequest(changes?: Partial<MergeRequest>): MergeRequest
}

export async function createFixture(
  options: Parameters<typeof createTestRepository>[0] & { readonly folder?: string } = {},
): Promise<WorkspaceFixture> {
  const repository = await createTestRepository(options)
  const root = join(repository.beside, options.folder ?? 'workspaces')
  const path = join(root, 'project', taskId)
  const ref = { repo_path: repository.path, path, branch, base_branch: 'main', base_commit: null }
  return {
    repository,
    workspaces: createWorkspaces({ clock: { now: () => Date.UTC(2026, 10, 21, 9, 30) } }),
    path,
    root,
    request: (changes = {}) => ({
      repo_path: repository.path,
      path,
      branch,
      base_branch: 'main',
      expect: 'new',
      setup_commands: [],
      copy_files: [],
      env: {},
      ...changes,
    }),
    ref: (changes = {}) => ({ ...ref, ...changes, path: changes.path ?? path }),
    mergeRequest: (changes = {}) => ({ ...ref, strategy: 'merge', message: 'Merge the task\n', ...changes }),
    [Symbol.asyncDispose]: () => repository[Symbol.asyncDispose](),
  }
}
