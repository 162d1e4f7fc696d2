import { existsSync } from 'node:fs'
import { expect } from 'vitest'
import type { WorktreeRequest } from '../../../src-main/ports/worktree-store.ts'
import { never, taskId, type WorkspaceFixture } from './workspace-fixture.ts'

/**
 * Everything that a task does in its worktree: create, edit, find, read, commit, merge, remove. Returns the files
 * that `main` has then, sorted.
 */
export async function wholeLife(
  fixture: WorkspaceFixture,
  changes: Partial<WorktreeRequest> = {},
): Promise<readonly string[]> {
  const { workspaces, repository } = fixture
  const request = fixture.request(changes)
  const { repo_path } = request
  const made = await workspaces.ensure(request, never)
  if (made.kind !== 'ready') throw new Error('No worktree was made.')
  expect(await repository.git(['status', '--porcelain'], { cwd: fixture.path })).toBe('')
  await repository.write({ 'task work.txt': 'done\n' }, fixture.path)
  const later = fixture.request({ ...changes, expect: 'existing', known_base: made.base_commit })
  expect(await workspaces.ensure(later, never)).toEqual({ ...made, how: 'reused' })
  const ref = fixture.ref({ repo_path, base_commit: made.base_commit })
  const diff = await workspaces.diff(ref, 'branch', null, never)
  expect(diff.files.map(({ path }) => path)).toEqual(['task work.txt'])
  expect(await workspaces.commitAll(fixture.path, 'Work\n', never)).not.toBeNull()
  expect(await workspaces.status(ref, never)).toMatchObject({ dirty: false, ahead: 1, behind: 0 })
  const merge = { ...fixture.mergeRequest({ repo_path }), base_commit: made.base_commit }
  expect(await workspaces.merge(merge, never)).toMatchObject({ kind: 'merged' })
  await workspaces.remove({ repo_path, path: request.path, task_id: taskId }, never)
  expect(existsSync(fixture.path)).toBe(false)
  const listed = await repository.git(['ls-tree', '-r', '-z', '--name-only', 'refs/heads/main'], { cwd: repo_path })
  return listed
    .split('\0')
    .filter((name) => name !== '')
    .toSorted()
}
