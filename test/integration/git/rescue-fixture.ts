import { listRescues } from '../../../src-main/git/rescue/rescue-list.ts'
import type { Rescue } from '../../../src-shared/contract/rescues.ts'
import { never, taskId, type WorkspaceFixture } from './workspace-fixture.ts'

/** The options of `remove`. */
export const removal = (fixture: WorkspaceFixture) => ({
  repo_path: fixture.repository.path,
  path: fixture.path,
  task_id: taskId,
})
/** The task's rescues, newest first. */
export const rescues = (fixture: WorkspaceFixture) => listRescues(fixture.repository.path, taskId, never)
/** Restores one, into the worktree if possible. */
export const restore = (fixture: WorkspaceFixture, rescue: Rescue | undefined) =>
  fixture.workspaces.restoreRescue(
    { repo_path: fixture.repository.path, task_id: taskId, timestamp: rescue?.timestamp ?? '' },
    { path: fixture.path, why_not: 'no_worktree', branch: 'rescued' },
    never,
  )

/** Removes the worktree and creates it again from its branch, as the next claim does. */
export async function removeAndReturn(fixture: WorkspaceFixture): Promise<void> {
  await fixture.workspaces.remove(removal(fixture), never)
  await fixture.workspaces.ensure(fixture.request({ expect: 'existing' }), never)
}
