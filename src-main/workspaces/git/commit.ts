import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { WorkspaceError } from '../../engine/ports.ts'
import { orNull } from '../file-errors.ts'
import { resolveCommit } from './branch.ts'
import { readGit, runGit } from './run-git.ts'
import type { GitOptions } from './run-git.ts'
import { allButLock, readStatus } from './status.ts'

type Options = Pick<GitOptions, 'signal'>

const fallbackName = 'Copse'
const fallbackEmail = 'copse@localhost'

/** `-c` options that give git an identity where neither its configuration nor the environment has one. */
export async function identityOptions(cwd: string, { signal }: Options): Promise<readonly string[]> {
  const { stdout } = await runGit(cwd, ['config', '--name-only', '--get-regexp', '^user\\.(name|email)$'], {
    signal,
    accept: [0, 1],
  })
  const configured = stdout.toString('utf8').split('\n')
  const options: string[] = []
  if (!configured.includes('user.name')) options.push('-c', `user.name=${fallbackName}`)
  if (!configured.includes('user.email')) options.push('-c', `user.email=${fallbackEmail}`)
  return options
}

/** Makes a commit object; no ref and no worktree changes. */
export async function commitTree(
  cwd: string,
  commit: { readonly tree: string; readonly parents: readonly string[]; readonly message: string },
  { signal, env = {} }: Options & { readonly env?: Readonly<Record<string, string>> },
): Promise<string> {
  const parents = commit.parents.flatMap((parent) => ['-p', parent])
  const args = [...(await identityOptions(cwd, { signal })), 'commit-tree', commit.tree, ...parents, '-F', '-']
  return await readGit(cwd, args, { signal, env, input: commit.message, access: 'write' })
}

/**
 * Commits everything that is not ignored, on whatever HEAD is on; null when there is nothing. Skips hooks, never signs.
 * Refuses files that still carry conflict markers of an unfinished merge.
 */
export async function commitEverything(cwd: string, message: string, { signal }: Options): Promise<string | null> {
  const status = await readStatus(cwd, { signal })
  if (status.changed.length + status.unmerged.length + status.untracked.length === 0) return null
  await refuseConflictMarkers(cwd, status.unmerged)
  await runGit(cwd, ['add', '--all', '--ignore-errors', '--', ...allButLock], {
    signal,
    access: 'write',
    accept: [0, 1],
  })
  const staged = await runGit(cwd, ['diff', '--cached', '--quiet', 'HEAD', '--'], { signal, accept: [0, 1, 128] })
  if (staged.exit_code === 0) return null
  const options = [...(await identityOptions(cwd, { signal })), '-c', 'commit.gpgSign=false', '-c', 'gc.auto=0']
  const commit = ['commit', '--quiet', '--no-verify', '--cleanup=whitespace', '-F', '-']
  await runGit(cwd, [...options, ...commit], { signal, input: message, access: 'write' })
  return await resolveCommit(cwd, 'HEAD', { signal })
}

async function refuseConflictMarkers(cwd: string, unmerged: readonly string[]): Promise<void> {
  const marked: string[] = []
  for (const path of unmerged) {
    const text = await orNull(readFile(join(cwd, path), 'utf8'))
    if (text !== null && /^<{7} /m.test(text)) marked.push(path)
  }
  if (marked.length === 0) return
  throw new WorkspaceError(
    'git_failed',
    `A merge in the worktree is unfinished: ${marked.join(', ')} still has conflict markers. Resolve them, then try again.`,
  )
}
