import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createWorkspaces, type WholeGit } from '../../helpers/whole-git.ts'
import type { BranchRef, MergeRequest } from '../../../src-main/ports/branch-ref.ts'
import type { WorktreeRequest } from '../../../src-main/ports/worktree-store.ts'
import { TaskId } from '../../../src-shared/contract/ids.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import type { TestRepository } from '../../helpers/git-repository.ts'

export const taskId = TaskId.parse('01912d68-783e-7a03-8467-5661c1243ad4')
export const branch = 'copse/add-a-button-c1243ad4'
export const never = { signal: new AbortController().signal }

/** A repository and the name of a task's worktree beside it, which does not exist yet. */
export interface WorkspaceFixture extends AsyncDisposable {
  readonly repository: TestRepository
  readonly workspaces: WholeGit
  /** The path of the task's worktree. */
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
    workspaces: createWorkspaces({
      clock: { now: () => Date.UTC(2026, 10, 21, 9, 30) },
      dataDir: join(repository.beside, 'data'),
    }),
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

/** Everything that a user could miss: files with contents, index, refs and HEAD of the checkout. */
export async function everything({ repository }: WorkspaceFixture): Promise<unknown> {
  const files: Record<string, string> = {}
  for (const entry of await readdir(repository.path, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (path.includes('/.git') && !path.endsWith('.gitignore')) continue
    files[path] = entry.isDirectory() ? 'folder' : await readFile(path, 'utf8')
  }
  return {
    files,
    index: await repository.git(['ls-files', '--stage']),
    refs: await repository.git(['for-each-ref']),
    head: await repository.git(['rev-parse', '--abbrev-ref', 'HEAD']),
    status: await repository.git(['status', '--porcelain', '--ignored']),
  }
}

/** A fixture with a worktree and one commit with `files`; the repository starts with `given`. */
export async function withWork(
  files: Record<string, string>,
  given: Record<string, string> = {},
  within?: string,
): Promise<WorkspaceFixture> {
  const start = { 'README.md': '# Example\n', 'a.txt': 'a\n', ...given }
  const fixture = await createFixture({ files: start, ...(within !== undefined && { within }) })
  await fixture.workspaces.ensure(fixture.request(), never)
  await fixture.repository.commit('Work on it', files, fixture.path)
  return fixture
}
