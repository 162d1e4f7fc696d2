import { basename, dirname } from 'node:path'
import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { ProjectId, TaskId, WorkspaceId } from '../../src-shared/contract/ids.ts'
import type { Orphan, RemovedOrphan } from '../../src-shared/contract/orphans.ts'
import { hereRunner } from '../../src-shared/contract/runners.ts'
import { invalidInput } from '../domain/refusal.ts'
import type { Ground } from '../core/ground.ts'
import { saveWorkspace } from './save-workspace.ts'
import type { RepoRecord } from '../ports/project-queries.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { Worktrees } from './worktrees.ts'

/** A worktree that belongs to no task, with the data that a task needs to adopt it. */
interface Adoptable {
  readonly path: string
  readonly branch: string
  readonly repo: RepoRecord
  readonly base_commit: string
}

/** Folders below the workspace root that belong to no task. They are removed only when a person asks. */
export interface Orphans {
  paths(): Promise<readonly string[]>
  list(signal: AbortSignal): Promise<readonly Orphan[]>
  /** Refuses a path that is not in the list. */
  remove(path: string, signal: AbortSignal): Promise<RemovedOrphan | Refusal>
  /** Returns the data to adopt a worktree, or why no task of the project can. */
  inspect(path: string, project_id: ProjectId, signal: AbortSignal): Promise<Adoptable | Refusal>
  /** Creates a task with the worktree, unless another task has adopted it since. */
  adopt(orphan: Adoptable, makeTask: () => TaskRecord): TaskRecord | Refusal
}

export function createOrphans(context: Ground, worktrees: Pick<Worktrees, 'exclusively'>): Orphans {
  const { worktrees: files, orphans, workspaceRoot } = context.places.here
  const { read } = context.store
  const paths: Orphans['paths'] = () => orphans.orphans(workspaceRoot, read.workspaces.paths())
  const isListed = async (path: string): Promise<boolean> => (await paths()).includes(path)
  return {
    paths,
    list: async (signal) => {
      const found: Orphan[] = []
      for (const path of await paths()) {
        const one = await orphans.describeOrphan(path, { signal })
        if (one) found.push(one)
      }
      return found
    },
    remove: async (path, signal) => {
      if (!(await isListed(path))) return notListed(path)
      const removal = async (): Promise<RemovedOrphan | Refusal> => {
        if (!(await isListed(path))) return notListed(path)
        return await orphans.removeOrphan(path, repoFor(context, path), { signal })
      }
      // The task with this name may be in the middle of a claim that reuses the folder.
      const task = read.tasks.get(basename(path) as TaskId)
      return task ? await worktrees.exclusively(task, removal) : await removal()
    },
    inspect: async (path, project_id, signal) => {
      if (!(await isListed(path))) return notListed(path)
      const orphan = await orphans.describeOrphan(path, { signal })
      if (!orphan) return notListed(path)
      if (orphan.kind === 'folder' || orphan.repo_path === null) {
        return invalidInput('path', `${path} isn't a worktree, so no task can use it. Move out what you need.`)
      }
      if (orphan.branch === null) {
        return invalidInput('path', `${path} is on no branch. Run "git switch -c <name>" in it, then adopt it.`)
      }
      const repo = await repoOf(context, project_id, orphan.repo_path, signal)
      if (!repo) {
        return invalidInput(
          'project_id',
          `The project has no repository ${orphan.repo_path}. Add it, or choose another project.`,
        )
      }
      const base_commit =
        (await orphans.forkPoint(path, repo.default_branch, { signal })) ?? (await files.head(path, { signal }))
      return { path, branch: orphan.branch, repo, base_commit }
    },
    adopt: ({ path, branch, repo, base_commit }, makeTask) => {
      if (read.workspaces.paths().includes(path)) return notListed(path)
      const task = makeTask()
      context.feed.commit((tx) => {
        saveWorkspace(tx, task, {
          id: context.newId() as WorkspaceId,
          task_id: task.id,
          status: 'ready',
          repo_path: repo.path,
          branch,
          path,
          runner_id: hereRunner,
          base_branch: repo.default_branch,
          base_commit,
          port_base: null,
          cleanup_at: null,
          error: null,
          stack: null,
          created_at: tx.now(),
        })
      })
      return task
    },
  }
}

async function repoOf(
  context: Ground,
  project_id: ProjectId,
  repo_path: string,
  signal: AbortSignal,
): Promise<RepoRecord | null> {
  for (const repo of context.store.read.repos.byProject(project_id)) {
    if (await context.places.here.orphans.sameRepository(repo.path, repo_path, { signal })) return repo
  }
  return null
}

/** Folders are named `{root}/{project}/{task}`. Returns the repository of that task, or the one that it would use. */
function repoFor(context: Ground, path: string): string | null {
  const { read } = context.store
  const project_id = basename(dirname(path)) as ProjectId
  const repos = read.repos.byProject(project_id)
  return (repos.find((repo) => repo.is_primary) ?? repos[0])?.path ?? null
}

function notListed(path: string): Refusal {
  return {
    code: 'not_found',
    message: `${path} isn't in the list of worktrees without a task.`,
    details: { resource: 'orphan' },
  }
}
