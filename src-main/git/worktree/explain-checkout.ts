import type { Cancellable } from '../../ports/cancellable.ts'
import { WorkspaceError } from '../../ports/workspace-error.ts'
import { branchTips, listBranches } from '../commands/branch.ts'
import { GitError } from '../commands/git-error.ts'
import { countMissing } from '../commands/partial.ts'
import { listWorktrees } from '../commands/worktree.ts'

/** Explains why git added no worktree on a branch and what to do; returns other errors unchanged. */
export async function explainAdd(
  repo: string,
  branch: string,
  error: unknown,
  { signal }: Cancellable,
): Promise<unknown> {
  if (!(error instanceof GitError) || error.code !== 'failed') return error
  const holder = (await listWorktrees(repo, { signal })).find((one) => one.branch === branch)
  if (holder !== undefined) {
    const way = `Switch to another branch there ("git -C '${holder.path}' switch …"), or remove that worktree`
    return failed(`The branch ${branch} is checked out in ${holder.path}. ${way}, then try again.`, error)
  }
  const parts = branch.split('/')
  const above = parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'))
  const [taken] = (await branchTips(repo, above, { signal })).keys()
  const inWay = taken ?? (await listBranches(repo, { signal })).branches.find((name) => name.startsWith(`${branch}/`))
  if (inWay === undefined) return error
  const advice = `Rename it ("git branch -m ${inWay} …") or choose another branch prefix in the project's settings`
  return failed(`There can be no branch ${branch} beside the branch ${inWay}. ${advice}, then try again.`, error)
}

/** Explains why the files of a new worktree could not be written. */
export async function explainCheckout(
  repo: string,
  commit: string,
  error: unknown,
  { signal }: Cancellable,
): Promise<unknown> {
  if (!(error instanceof GitError) || error.code !== 'failed') return error
  const missing = await countMissing(repo, commit, { signal })
  if (missing === null) {
    const advice = 'Fix the cause, then try again. Nothing was left half done.'
    return failed(`The files could not be checked out: ${wordsOf(error)}. ${advice}`, error)
  }
  const objects = missing.count === 1 ? 'one of the objects' : `${missing.count} of the objects`
  const from = `the remote ${missing.remotes.join(' or ')}`
  const what = `This repository is a partial clone: ${objects} that the checkout needs can't be fetched from ${from}`
  return failed(`${what} (${wordsOf(error)}). See that it can be reached without a question, then try again.`, error)
}

/** Returns git's message together with earlier output of a filter or a remote, which is mostly the cause. */
function wordsOf({ message, stderr }: GitError): string {
  const lines = stderr.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('hint:'))
  return lines.length === 0 ? message : lines.slice(-4).join('; ')
}

function failed(message: string, cause: GitError): WorkspaceError {
  return new WorkspaceError('git_failed', message, { cause })
}
