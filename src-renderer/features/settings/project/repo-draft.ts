import type { OperationInput } from '../../../../src-shared/contract/operations.ts'
import type { Repo } from '../../../../src-shared/contract/projects.ts'

/** A repository that is being added or changed. */
export interface RepoDraft {
  path: string
  name: string
  branch: string
}

/** What the fields say at first. */
export function repoDraft(repo: Repo | null): RepoDraft {
  return { path: repo?.path ?? '', name: repo?.name ?? '', branch: repo?.default_branch ?? '' }
}

/** A new repository; what is left empty is the folder's own name, and the branch that it has checked out. */
export function repoInput(projectId: string, draft: RepoDraft): OperationInput<'repos.add'> {
  const { path, name, branch } = trimmed(draft)
  return {
    project_id: projectId,
    path,
    ...(name === '' ? {} : { name }),
    ...(branch === '' ? {} : { default_branch: branch }),
  }
}

/** What differs from the repository; null when nothing does. What is left empty stays. */
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

/** The change that a problem of the repository asks for, on its button; null where no field can help. */
export function fixLabel(code: 'repository_missing' | 'repository_has_no_commits' | 'branch_missing'): string | null {
  if (code === 'repository_missing') return 'Update path…'
  return code === 'branch_missing' ? 'Choose a branch…' : null
}
