import type { ProjectId } from '../../src-shared/contract/ids.ts'
import type { BaseFiles, BranchStart, ProjectBases } from '../ports/base-files.ts'
import type { Cancellable } from '../ports/cancellable.ts'
import type { Place } from '../ports/place.ts'

type ProjectStart = BranchStart & { readonly project_id: ProjectId }

interface ProjectBasesOptions
  extends Pick<Place, 'scratch' | 'workspaceRoot'>, Pick<ProjectBases, 'files' | 'isTrusted'> {
  /** Where the branch of a task's worktree starts; null for a folder that is none. */
  readonly startOf: (worktree: string) => ProjectStart | null
  /** Where branches of each repository start. */
  readonly repositories: () => readonly ProjectStart[]
}

/** Returns what the commits of projects say of how their tasks run. */
export function createProjectBases(options: ProjectBasesOptions): ProjectBases {
  const { files, isTrusted, startOf, repositories, scratch, workspaceRoot } = options
  return {
    files,
    isTrusted,
    of: async (worktree, cancellable) => {
      // A worktree of no task has what is to land, and has the dev container of the branch where that lands.
      const start = startOf(worktree) ?? (await repositoryOf(files, worktree, repositories(), cancellable))
      const commit = start && (await files.commitOf(start, cancellable))
      return start && commit !== null ? { project_id: start.project_id, repo_path: start.repo_path, commit } : null
    },
    withCheckout: ({ repo_path, commit }, use, cancellable) =>
      scratch.withScratch({ repo_path, root: workspaceRoot, at: commit, copy_files: [] }, use, cancellable),
  }
}

async function repositoryOf(
  files: BaseFiles,
  worktree: string,
  starts: readonly ProjectStart[],
  options: Cancellable,
): Promise<ProjectStart | null> {
  for (const start of starts)
    if (await files.isWorktreeOf(worktree, start.repo_path, options).catch(() => false)) return start
  return null
}
