import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { Ground } from '../core/ground.ts'
import { saveWorkspace } from '../workspaces/save-workspace.ts'
import type { RepoRecord } from '../ports/project-queries.ts'
import type { WorkspaceRecord } from '../ports/workspace-queries.ts'
import { WorkspaceError } from '../ports/workspace-error.ts'
import type { RepositoryInfo } from '../ports/repository-reader.ts'
import type { Worktrees } from '../workspaces/worktrees.ts'

/**
 * Returns why the worktrees of a repository could not continue at a new path, or null. The path must hold the same
 * repository, moved and not copied, because worktrees hold work that exists nowhere else.
 */
export async function refuseMove(
  context: Ground,
  repo: RepoRecord,
  to: RepositoryInfo,
  signal: AbortSignal,
): Promise<Refusal | null> {
  const { read } = context.store
  const tasks = new Set(read.tasks.idsInRepo(repo.project_id, repo.id))
  const open = read.executions.queue(repo.project_id).filter((one) => tasks.has(one.task_id) && one.agent_id !== null)
  if (open.length > 0) {
    const message = `Agents are running in worktrees of this repository. Stop them, then update its path.`
    return { code: 'project_busy', message, details: { executions: open.map((one) => one.id) } }
  }
  for (const workspace of recordsOf(context, repo)) {
    if (workspace.status === 'cleaned' || workspace.base_commit === null) continue
    if (await goesOn(context, workspace, to, signal)) continue
    const title = read.tasks.get(workspace.task_id)?.title ?? workspace.branch
    const message =
      `${to.root} does not have the worktree of “${title}” (${workspace.path}). Choose the folder that the repository ` +
      `was moved to; a copy or a new clone has no worktrees. Or finish or delete that task first.`
    const issues = [{ path: 'path', message }]
    return { code: 'validation_failed', message, details: { issues, tasks: [workspace.task_id] } }
  }
  return null
}

/** Saves the new path in all worktrees of a repository, and repairs the links of those on disk. */
export async function followRepository(
  context: Ground,
  worktrees: Pick<Worktrees, 'exclusively'>,
  repo: RepoRecord,
  signal: AbortSignal,
): Promise<void> {
  const { feed, store, places } = context
  const moved = feed.commit((tx) => {
    const known = recordsOf({ store: { read: tx } }, repo).filter((one) => one.repo_path !== repo.path)
    for (const record of known) {
      const task = tx.tasks.get(record.task_id)
      const after = { ...record, repo_path: repo.path }
      if (task && record.status !== 'cleaned') saveWorkspace(tx, task, after)
      else tx.workspaces.put(after)
    }
    return known
  })
  for (const { task_id, path } of moved) {
    const task = store.read.tasks.get(task_id)
    if (!task || !(await places.of(task_id).worktrees.exists(path))) continue
    try {
      await worktrees.exclusively(task, () => places.of(task_id).worktrees.relink(repo.path, path, { signal }))
    } catch (error) {
      if (!(error instanceof WorkspaceError) || signal.aborted) throw error
      // The next claim retries this and reports the problem.
      context.log.warn({ err: error, path }, 'a worktree could not be led to its repository at the new place')
    }
  }
}

type Reader = {
  readonly store: { readonly read: Pick<Ground['store']['read'], 'tasks' | 'workspaces'> }
}

function recordsOf({ store }: Reader, repo: RepoRecord): readonly WorkspaceRecord[] {
  const { read } = store
  const inRepo = new Set(read.tasks.idsInRepo(repo.project_id, repo.id))
  return read.workspaces.byProject(repo.project_id).filter((one) => inRepo.has(one.task_id))
}

async function goesOn(
  { places }: Ground,
  { task_id, path, branch }: WorkspaceRecord,
  to: RepositoryInfo,
  signal: AbortSignal,
): Promise<boolean> {
  const { worktrees } = places.of(task_id)
  if (!(await worktrees.exists(path))) return to.branches.includes(branch)
  return await worktrees.isKnownTo(to.root, path, { signal })
}
