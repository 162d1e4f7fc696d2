import { z } from 'zod'
import { ProjectId, TaskId } from '../ids.ts'
import { del, get, list, post } from '../operation.ts'
import { Orphan, RemovedOrphan } from '../orphans.ts'
import { Rescue, rescueTimestamp, RestoredRescue } from '../rescues.ts'
import { Task } from '../tasks.ts'
import { Diff, FolderSize, Workspace } from '../workspaces.ts'

const Kept = z.string().regex(rescueTimestamp, 'The last part of the ref of a rescue.')
const ofTask = { task_id: TaskId, timestamp: Kept }
const ofProject = {
  project_id: ProjectId,
  of_task: z.string().regex(/^[A-Za-z0-9-]{1,100}$/, 'The `task_id` of a rescue.'),
  timestamp: Kept,
}
const path = z.string().optional().describe('One file alone, also one that was left out for its size.')
const restored = 'as uncommitted changes where nothing conflicts, else as a new branch; the rescue stays.'

export const workspacesOperations = {
  'rescues.of_task': get(
    '/tasks/{task_id}/rescues',
    'member',
    'The snapshots (`rescue`) of this task, newest first.',
    z.object({ task_id: TaskId }),
    list(Rescue),
    ['workspace_failed', 'repository_missing'],
  ),
  'rescues.of_project': get(
    '/projects/{project_id}/rescues',
    'member',
    'What was kept in the project’s repositories, of deleted tasks too, newest first.',
    z.object({ project_id: ProjectId }),
    list(Rescue),
    ['workspace_failed', 'repository_missing'],
  ),
  'rescues.diff': get(
    '/tasks/{task_id}/rescues/{timestamp}/diff',
    'member',
    'What a rescue holds: uncommitted work against what it lay on, commits against where they left the branches.',
    z.object({ ...ofTask, path }),
    Diff,
    ['workspace_failed', 'repository_missing'],
  ),
  'rescues.diff_in_project': get(
    '/projects/{project_id}/rescues/{of_task}/{timestamp}/diff',
    'member',
    'What a rescue holds, also of a deleted task.',
    z.object({ ...ofProject, path }),
    Diff,
    ['workspace_failed', 'repository_missing'],
  ),
  'rescues.restore': post(
    '/tasks/{task_id}/rescues/{timestamp}/restore',
    'member_human',
    `Restore a snapshot (\`rescue\`): into the task’s worktree ${restored}`,
    z.object(ofTask),
    RestoredRescue,
    200,
    ['workspace_failed', 'repository_missing'],
  ),
  'rescues.restore_in_project': post(
    '/projects/{project_id}/rescues/{of_task}/{timestamp}/restore',
    'member_human',
    `Restore a snapshot (\`rescue\`), also of a deleted task: ${restored}`,
    z.object(ofProject),
    RestoredRescue,
    200,
    ['workspace_failed', 'repository_missing'],
  ),
  'rescues.delete': del(
    '/tasks/{task_id}/rescues/{timestamp}',
    'member_human',
    'Delete a snapshot (\`rescue\`). Snapshots older than 30 days are deleted automatically.',
    z.object(ofTask),
    ['workspace_failed', 'repository_missing'],
  ),
  'rescues.delete_in_project': del(
    '/projects/{project_id}/rescues/{of_task}/{timestamp}',
    'member_human',
    'Delete a snapshot (\`rescue\`), also of a deleted task.',
    z.object(ofProject),
    ['workspace_failed', 'repository_missing'],
  ),
  'tasks.workspace_size': get(
    '/tasks/{task_id}/workspace/size',
    'member',
    'How much room the files of the task’s worktree take, ignored ones too; 404 when there is none now.',
    z.object({ task_id: TaskId }),
    FolderSize,
    ['workspace_failed', 'repository_missing'],
  ),
  'tasks.clean_up_workspace': post(
    '/tasks/{task_id}/workspace/cleanup',
    'member_human',
    'Remove the worktree of a finished task now: before its time, or again after a failure. Uncommitted work is kept.',
    z.object({ task_id: TaskId }),
    Workspace,
    200,
    ['recovery_not_available', 'workspace_locked', 'workspace_failed', 'repository_missing'],
  ),
  'orphans.list': get(
    '/system/orphans',
    'admin',
    'Folders below the worktree root that belong to no task. They are never deleted automatically.',
    z.object({}),
    list(Orphan),
    ['workspace_failed', 'repository_missing'],
  ),
  'orphans.remove': post(
    '/system/orphans/remove',
    'admin',
    'Remove a folder of the list, after keeping what no branch has; its branch stays.',
    z.object({ path: z.string().min(1).max(4_096) }),
    RemovedOrphan,
    200,
    ['not_a_git_repository', 'workspace_failed', 'repository_missing'],
  ),
  'orphans.adopt': post(
    '/system/orphans/adopt',
    'admin',
    'Make a task whose workspace is this worktree, with its branch and its files as they are.',
    z.object({
      path: z.string().min(1).max(4_096),
      project_id: ProjectId,
      title: z.string().trim().min(1).max(500).optional(),
    }),
    Task,
    201,
    ['workspace_failed', 'repository_missing'],
  ),
} as const
