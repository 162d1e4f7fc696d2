import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { WorkspaceError } from '../../ports/workspace-error.ts'
import { orNull } from '../files/file-errors.ts'
import { resolveCommit } from '../commands/branch.ts'
import { GitError } from '../commands/git-error.ts'
import { listInner } from '../commands/nested.ts'
import { readGit, runGit } from '../commands/run-git.ts'
import { withSnapshot } from '../commands/snapshot.ts'
import { pathText } from '../commands/tree-paths.ts'
import { mergeTips, unpublishedTips } from '../rescue/unreachable-commits.ts'
import { commitSnapshot, rescueCommit, type KeptFiles, type RescueOptions } from '../rescue/rescue.ts'

/** The saved work of a submodule, and its ref; null if it has none. */
export interface KeptSubmodule {
  readonly path: string
  readonly ref: string | null
  readonly kept: KeptFiles
}

/**
 * Saves the work in a worktree's initialised submodules and other nested repositories, which are removed with it:
 * uncommitted work, and commits that none of their remotes has. Saves it under rescue refs of the repository `repo`
 * itself. Throws `git_failed` if that is impossible, before anything is lost.
 */
export async function keepSubmodules(
  repo: string,
  path: string,
  task: string,
  options: RescueOptions,
  prefix = '',
): Promise<readonly KeptSubmodule[]> {
  const found: KeptSubmodule[] = []
  for (const name of await innerRepositories(path, options)) {
    found.push(...(await keepInner(repo, join(path, name), `${prefix}${name}`, task, options)))
  }
  return found
}

/** Saves one repository, its inner ones first. `shown` is its path as shown to people. */
export async function keepInner(
  repo: string,
  inner: string,
  shown: string,
  task: string,
  options: RescueOptions,
): Promise<readonly KeptSubmodule[]> {
  const found = await keepSubmodules(repo, inner, task, options, `${shown}/`)
  try {
    return [...found, await keepOne(repo, inner, shown, task, options)]
  } catch (error) {
    if (!(error instanceof GitError) || error.code === 'not_installed') throw error
    throw notKept(inner, error)
  }
}

async function keepOne(
  repo: string,
  path: string,
  shown: string,
  task: string,
  options: RescueOptions,
): Promise<KeptSubmodule> {
  const found = await withSnapshot(path, options, (snapshot) =>
    commitSnapshot(path, snapshot, `the submodule ${shown} of the workspace of task ${task}`, options),
  )
  const { files, kept } = found
  if (!found.complete) throw notKept(path)
  const tips = await unpublishedTips(path, found.commit ?? (await resolveCommit(path, 'HEAD', options)), options)
  if (tips.length === 0) return { path, ref: null, kept }
  const commit = await mergeTips(path, tips, task, options)
  await bringOver(repo, path, commit, options)
  const note = { kind: 'commits', files, submodule: shown } as const
  return { path, ref: await rescueCommit(repo, commit, task, { ...options, note }), kept }
}

/** Copies a commit with its history from one repository to another. */
async function bringOver(repo: string, inner: string, commit: string, { signal }: RescueOptions): Promise<void> {
  // A shallow history would make the whole repository shallow.
  if ((await readGit(inner, ['rev-parse', '--is-shallow-repository'], { signal })) === 'true') throw notKept(inner)
  const ref = `refs/svc/moving/${commit}`
  await runGit(inner, ['update-ref', ref, commit], { signal, access: 'write' })
  try {
    const quiet = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance', '--no-recurse-submodules']
    await runGit(repo, ['fetch', ...quiet, '--', inner, ref], { signal, access: 'write' })
  } finally {
    await runGit(inner, ['update-ref', '-d', ref], { signal: AbortSignal.timeout(10_000), access: 'write' })
  }
}

/** Returns the submodules in the index that have their own repository there, and other nested repositories. */
async function innerRepositories(path: string, { signal }: RescueOptions): Promise<readonly string[]> {
  const { nested, links } = await listInner(path, { signal })
  const found = new Set(nested.map(pathText))
  for (const name of [...links.keys()].map(pathText)) {
    if ((await orNull(lstat(join(path, name, '.git')))) !== null) found.add(name)
  }
  return [...found]
}

function notKept(inner: string, cause?: unknown): WorkspaceError {
  return new WorkspaceError(
    'git_failed',
    `The repository ${inner} has work that could not be kept, so nothing was removed. ` +
      'Push or discard its changes there, then try again.',
    { cause },
  )
}
