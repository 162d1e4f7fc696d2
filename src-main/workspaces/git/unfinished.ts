import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { orNull } from '../file-errors.ts'
import { identityOptions } from './identity.ts'
import { runGit } from './run-git.ts'
import type { GitOptions } from './run-git.ts'
import { readGitLink } from './worktree.ts'

type Options = Pick<GitOptions, 'signal'>

/** Files that git keeps while such a command has not come to its end in a worktree. */
const traces = [
  ['merge', 'MERGE_HEAD'],
  ['rebase', 'rebase-merge'],
  ['rebase', 'rebase-apply'],
  ['cherry-pick', 'CHERRY_PICK_HEAD'],
  ['revert', 'REVERT_HEAD'],
] as const

/** The git command that was begun in a worktree and waits for somebody to go on with it; null when there is none. */
export async function unfinishedCommand(path: string): Promise<(typeof traces)[number][0] | null> {
  const folder = (await readGitLink(path)) ?? join(path, '.git')
  for (const [command, trace] of traces) {
    if ((await orNull(stat(join(folder, trace)))) !== null) return command
  }
  return null
}

/** Begins a merge in a worktree in which all is committed, and stops before its commit, be there a conflict or none. */
export async function startMerge(path: string, commit: string, message: string, { signal }: Options): Promise<void> {
  const options = [...(await identityOptions(path, { signal })), '-c', 'core.hooksPath=/dev/null', '-c', 'gc.auto=0']
  const args = ['merge', '--quiet', '--no-commit', '--no-ff', '-m', message, '--', commit]
  await runGit(path, [...options, ...args], { signal, access: 'write', accept: [0, 1] })
}
