import { basename } from 'node:path'
import type { ProjectId, RunnerId, TaskId } from '../../src-shared/contract/ids.ts'
import type { BranchStart } from '../ports/base-files.ts'
import type { Queries } from '../ports/store.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import { landsOn, rootBranch } from './stack-of.ts'

/** Where the branch of a project's task starts. */
export type ProjectStart = BranchStart & { readonly project_id: ProjectId }

/** Returns where the branch of a task starts, or will; null for a task without a repository. */
export function startOfTask(q: Pick<Queries, 'tasks' | 'workspaces' | 'repos'>, task: TaskRecord): ProjectStart | null {
  const { project_id } = task
  const workspace = q.workspaces.byTask(task.id)
  if (workspace) {
    const { repo_path, base_commit } = workspace
    return { project_id, repo_path, lands_on: landsOn(workspace), base_commit }
  }
  const repo = q.repos.get(task.repo_id)
  if (!repo) return null
  const lands_on = rootBranch(q, task) ?? repo.default_branch
  return { project_id, repo_path: repo.path, lands_on, base_commit: null }
}

/** Returns what is asked of the database to find the base of a worktree. */
export function branchStarts(q: Pick<Queries, 'tasks' | 'workspaces' | 'repos' | 'projects' | 'runner_trust'>) {
  return {
    /** Of a worktree, which has the id of its task as its name; null if it belongs to no task. */
    startOf: (worktree: string): ProjectStart | null => {
      const workspace = q.workspaces.byTask(basename(worktree) as TaskId)
      const task = workspace?.path === worktree ? q.tasks.get(workspace.task_id) : null
      return task ? startOfTask(q, task) : null
    },
    /** Where branches of each repository start that have no worktree. */
    repositories: (): readonly ProjectStart[] =>
      q.projects
        .list()
        .flatMap(({ id }) => q.repos.byProject(id))
        .map(({ project_id, path, default_branch }) => ({
          project_id,
          repo_path: path,
          lands_on: default_branch,
          base_commit: null,
        })),
    isTrusted: (runner_id: string, project_id: ProjectId, sha256: string): boolean =>
      q.runner_trust.has({ runner_id: runner_id as RunnerId, project_id, sha256 }),
  }
}
