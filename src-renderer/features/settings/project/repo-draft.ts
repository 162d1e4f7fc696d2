import type { OperationInput } from '../../../../src-shared/contract/operations.ts'
import type { Repo } from '../../../../src-shared/contract/projects.ts'

/** The form data of a repository. */
export interface RepoDraft {
  path: string
  name: string
  branch: string
}

/** Returns the initial form data. */
export function repoDraft(repo: Repo | null): RepoDraft {
  return { path: repo?.path ?? '', name: repo?.name ?? '', branch: repo?.default_branch ?? '' }
}

/**
 * Returns the request that adds a repository. Empty fields default to the folder's name and its
 * current branch.
 */
export function repoInput(projectId: string, draft: RepoDraft): OperationInput<'repos.add'> {
  const { path, name, branch } = trimmed(draft)
  return {
    project_id: projectId,
    path,
    ...(name === '' ? {} : { name }),
    ...(branch === '' ? {} : { default_branch: branch }),
  }
}

/** Returns the changed fields; null without changes. Empty fields stay unchanged. */
export function repoPatch(repo: Repo, draft: RepoDraft): Partial<OperationInput<'repos.update'>> | null {
  const { path, name, branch } = trimmed(draft)
  const patch = {
    ...(path === '' || path === repo.path ? {} : { path }),
    ...(name === '' || name === repo.name ? {} : { name }),
    ...(branch === '' || branch === repo.default_branch ? {} : { default_branch: branch }),
  }
  return Object.keys(patch).length === 0 ? null : patch
}

function trimmed({ path, name, branch }: RepoDraft): RepoDraft {
  return { path: path.trim(), name: name.trim(), branch: branch.trim() }
}

/** Returns the label of the fix for a repository problem; null if no field can fix it. */
export function fixLabel(code: 'repository_missing' | 'repository_has_no_commits' | 'branch_missing'): string | null {
  if (code === 'repository_missing') return 'Update path…'
  return code === 'branch_missing' ? 'Choose a branch…' : null
}
