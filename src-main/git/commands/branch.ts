import { WorkspaceError } from '../../ports/workspace-error.ts'
import { noteOwnMove } from './own-moves.ts'
import { readGit, runGit } from './run-git.ts'
import type { GitOptions } from './run-git.ts'

type Options = Pick<GitOptions, 'signal'>

/** Returns the full name of a local branch's ref. */
export const branchRef = (branch: string): string => `refs/heads/${branch}`

/** Returns the commit that a revision names; null when there is none. */
export async function resolveCommit(cwd: string, revision: string, { signal }: Options): Promise<string | null> {
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`]
  const { exit_code, stdout } = await runGit(cwd, args, { signal, accept: [0, 1, 128] })
  return exit_code === 0 ? stdout.toString('utf8').trim() : null
}

/** Returns the tree of a commit; null if the repository doesn't have it. */
export async function resolveTree(cwd: string, commit: string, { signal }: Options): Promise<string | null> {
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${commit}^{tree}`]
  const { exit_code, stdout } = await runGit(cwd, args, { signal, accept: [0, 1, 128] })
  return exit_code === 0 ? stdout.toString('utf8').trim() : null
}

/**
 * Returns the commit of a worktree's HEAD that could not be read from git's files. Refuses a task's branch that stands
 * for another ref: what is committed there would be committed elsewhere.
 */
export async function readOddHead(path: string, branch: string, { signal }: Options): Promise<string | null> {
  await refuseSymbolic(path, branch, { signal })
  return await resolveCommit(path, 'HEAD', { signal })
}

export async function refuseSymbolic(cwd: string, branch: string, { signal }: Options): Promise<void> {
  const target = await symbolicTarget(cwd, branchRef(branch), { signal })
  if (target === null) return
  throw new WorkspaceError(
    'outside_worktree',
    `The branch ${branch} stands for ${target}, so its commits are there. ` +
      'Submit the task, then take the work or leave it out.',
  )
}

/** Returns the ref that a ref stands for; null for an ordinary one, and for a detached HEAD. */
export async function symbolicTarget(cwd: string, name: string, { signal }: Options): Promise<string | null> {
  const target = await readGit(cwd, ['symbolic-ref', '--quiet', name], { signal, accept: [0, 1, 128] })
  return target === '' ? null : target
}

/** Returns the commit of HEAD with its tree; null when there is none yet. */
export async function readHead(
  cwd: string,
  { signal }: Options,
): Promise<{ readonly commit: string; readonly tree: string } | null> {
  const { exit_code, stdout } = await runGit(cwd, ['rev-parse', 'HEAD^{commit}', 'HEAD^{tree}'], {
    signal,
    accept: [0, 128],
  })
  const [commit = '', tree = ''] = stdout.toString('utf8').split('\n')
  return exit_code === 0 ? { commit, tree } : null
}

/** Returns the commit of a base: of the local branch with that name, else of any revision that git knows by it. */
export async function resolveBase(cwd: string, base: string, options: Options): Promise<string | null> {
  return (await resolveCommit(cwd, branchRef(base), options)) ?? (await resolveCommit(cwd, base, options))
}

/** Returns the tips of the branches that exist. */
export async function branchTips(
  cwd: string,
  branches: readonly string[],
  { signal }: Options,
): Promise<ReadonlyMap<string, string>> {
  const refs = branches.map(branchRef)
  const out = await readGit(cwd, ['for-each-ref', '--format=%(objectname) %(refname)', ...refs], { signal })
  const tips = new Map<string, string>()
  for (const line of out.split('\n')) {
    const [commit, ref] = [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]
    // A ref pattern also matches branches below that name, so compare the full name.
    const branch = branches.find((name) => branchRef(name) === ref)
    if (branch !== undefined) tips.set(branch, commit)
  }
  return tips
}

/**
 * Returns the short names of all local branches, and the one that HEAD is on: null if it is on none, or on one
 * without a commit.
 */
export async function listBranches(
  cwd: string,
  { signal }: Options,
): Promise<{ readonly branches: readonly string[]; readonly current: string | null }> {
  const out = await readGit(cwd, ['for-each-ref', '--format=%(HEAD)%(refname:lstrip=2)', 'refs/heads/'], { signal })
  const lines = out === '' ? [] : out.split('\n')
  const current = lines.find((line) => line.startsWith('*'))?.slice(1) ?? null
  return { branches: lines.map((line) => line.slice(1)), current }
}

/** Returns the branch that HEAD is on, which may have no commit yet; null if HEAD is detached. */
export async function currentBranch(cwd: string, { signal }: Options): Promise<string | null> {
  const { exit_code, stdout } = await runGit(cwd, ['symbolic-ref', '--quiet', 'HEAD'], { signal, accept: [0, 1] })
  const ref = stdout.toString('utf8').trim()
  return exit_code === 0 && ref.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : null
}

export async function mergeBase(cwd: string, a: string, b: string, { signal }: Options): Promise<string | null> {
  const { exit_code, stdout } = await runGit(cwd, ['merge-base', a, b], { signal, accept: [0, 1] })
  return exit_code === 0 ? stdout.toString('utf8').trim() : null
}

const knownBases = new Map<string, string>()

/** Like `mergeBase`, but cached: the merge base of two commits does not change. */
export async function knownMergeBase(cwd: string, a: string, b: string, options: Options): Promise<string | null> {
  const key = `${a} ${b}`
  const known = knownBases.get(key)
  if (known !== undefined) return known
  const base = await mergeBase(cwd, a, b, options)
  if (knownBases.size >= 1_000) knownBases.clear()
  // Not cached if null, because the history may only be shallow.
  if (base !== null) knownBases.set(key, base)
  return base
}

/** Returns whether `older` is an ancestor of `newer`; false if one of them does not exist (any more). */
export async function isAncestor(cwd: string, older: string, newer: string, { signal }: Options): Promise<boolean> {
  const args = ['merge-base', '--is-ancestor', older, newer]
  return (await runGit(cwd, args, { signal, accept: [0, 1, 128] })).exit_code === 0
}

/** Returns whether a branch, tag or rescue ref other than `except` contains the commit. */
export async function isReachable(
  cwd: string,
  commit: string,
  { signal, except }: Options & { readonly except?: string },
): Promise<boolean> {
  const args = ['for-each-ref', '--count=2', `--contains=${commit}`, '--format=%(refname)']
  const out = await readGit(cwd, [...args, 'refs/heads/', 'refs/remotes/', 'refs/tags/', 'refs/svc/'], { signal })
  return out.split('\n').some((ref) => ref !== '' && ref !== except)
}

/**
 * Moves a ref only if it points at `from` (null: does not exist yet); returns whether it did. `reflog`: keeps the
 * reason.
 */
export async function moveRef(
  cwd: string,
  ref: string,
  move: { readonly to: string; readonly from: string | null; readonly reason: string },
  { signal, reflog = false }: Options & { readonly reflog?: boolean },
): Promise<boolean> {
  const from = move.from ?? '0'.repeat(move.to.length)
  noteOwnMove(ref, move.to)
  const args = [
    'update-ref',
    '--no-deref',
    ...(reflog ? ['--create-reflog'] : []),
    '-m',
    move.reason,
    ref,
    move.to,
    from,
  ]
  const { exit_code } = await runGit(cwd, args, { signal, access: 'write', accept: [0, 1, 128] })
  return exit_code === 0
}
