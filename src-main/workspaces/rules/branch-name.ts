/**
 * Returns the branch name of a task: prefix, a slug of its title, and the end of its ID, so that equal titles don't
 * clash.
 */
export function branchName(prefix: string, title: string, task_id: string): string {
  const slug = title
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{Mark}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/^-+|-+$/g, '')
  return `${prefix}${slug || 'task'}-${task_id.replaceAll('-', '').slice(-8)}`
}
