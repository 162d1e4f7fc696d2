import { join } from 'node:path'

const slugLimit = 40

/** `{prefix}{slug of the title}-{last 8 hex digits of the task's id}`; always a valid branch name if the prefix is one. */
export function branchName(task: { readonly id: string; readonly title: string }, prefix: string): string {
  const hex = task.id.replaceAll(/[^0-9a-f]/gi, '').toLowerCase()
  return `${prefix}${slug(task.title)}-${hex.slice(-8)}`
}

/** At most 40 characters of `[a-z0-9-]`; `task` when the title has nothing that can be kept. */
export function slug(title: string): string {
  const plain = title
    .normalize('NFKD')
    .replaceAll(/\p{Mark}/gu, '')
    .toLowerCase()
  const words = plain.replaceAll(/[^a-z0-9]+/g, '-').replace(/^-+/, '')
  return words.slice(0, slugLimit).replace(/-+$/, '') || 'task'
}

/** Where the worktree of a task lies: `{root}/{project}/{task}`. */
export function workspacePath(root: string, task: { readonly id: string; readonly project_id: string }): string {
  return join(root, task.project_id, task.id)
}
