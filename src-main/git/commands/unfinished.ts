import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { WorkspaceError } from '../../ports/workspace-error.ts'
import { orNull } from '../files/file-errors.ts'
import { branchRef } from './branch.ts'
import { identityOptions } from './identity.ts'
import { runGit } from './run-git.ts'
import type { GitOptions } from './run-git.ts'
import { readGitLink } from './git-link.ts'
import { readPlain } from '../files/plain-file.ts'

type Options = Pick<GitOptions, 'signal'>

/** Files that exist while such a command is unfinished in a worktree. */
const traces = [
  ['merge', 'MERGE_HEAD'],
  ['rebase', 'rebase-merge'],
  ['rebase', 'rebase-apply'],
  ['cherry-pick', 'CHERRY_PICK_HEAD'],
  ['revert', 'REVERT_HEAD'],
] as const

/** Returns the git command that was started in a worktree and not finished; null when there is none. */
export async function unfinishedCommand(path: string): Promise<(typeof traces)[number][0] | null> {
  const folder = await ownFolder(path)
  for (const [command, trace] of traces) {
    if ((await orNull(stat(join(folder, trace)))) !== null) return command
  }
  return null
}

/** Returns whether git keeps a message for the commit that will conclude an unfinished command in a worktree. */
export async function hasMessage(path: string): Promise<boolean> {
  const text = await readPlain(join(await ownFolder(path), 'MERGE_MSG'))
  return text !== null && /^[^#\s]/m.test(text)
}

/** Returns whether a branch is being rebased in a worktree: until the end, HEAD is on no branch there. */
export async function isBeingRebased(path: string, branch: string): Promise<boolean> {
  const folder = await ownFolder(path)
  for (const trace of ['rebase-merge', 'rebase-apply']) {
    const name = await readPlain(join(folder, trace, 'head-name'))
    if (name?.trim() === branchRef(branch)) return true
  }
  return false
}

/**
 * Options that limit `git merge` to the merge itself, whatever the repository's configuration: no hook runs, no
 * recorded resolution is applied unseen, nothing is stashed, and an unsigned base is accepted.
 */
const plainly = ['core.hooksPath=/dev/null', 'gc.auto=0', 'maintenance.auto=false', 'rerere.enabled=false']
const plainMerge = [
  '--quiet',
  '--no-commit',
  '--no-ff',
  '--no-verify-signatures',
  '--no-autostash',
  '--no-rerere-autoupdate',
]

/** Starts a merge in a worktree without uncommitted changes, and stops before its commit, with or without conflicts. */
export async function startMerge(path: string, commit: string, message: string, { signal }: Options): Promise<void> {
  const options = [...(await identityOptions(path, { signal })), ...plainly.flatMap((setting) => ['-c', setting])]
  const args = ['merge', ...plainMerge, '-m', message, '--', commit]
  const { stderr } = await runGit(path, [...options, ...args], { signal, access: 'write', accept: [0, 1, 2, 128] })
  if ((await unfinishedCommand(path)) === 'merge') return
  throw new WorkspaceError(
    'git_failed',
    `| 'it did not say why'}|git couldn't start the merge in ${path}: ${stderr.trim() || 'it gave no reason'}|| 'it did not say why'}`,
  )
}

async function ownFolder(path: string): Promise<string> {
  return (await readGitLink(path)) ?? join(path, '.git')
}
