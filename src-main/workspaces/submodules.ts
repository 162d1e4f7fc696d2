import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { WorkspaceError } from '../engine/workspace-port.ts'
import { orNull } from './file-errors.ts'
import { resolveCommit } from './git/branch.ts'
import { commitTree } from './git/commit.ts'
import { countChanged } from './git/count-files.ts'
import { GitError } from './git/git-error.ts'
import { emptyTree, treeOf } from './git/merge.ts'
import { readGit, runGit, splitNul } from './git/run-git.ts'
import { withSnapshot } from './git/snapshot.ts'
import { joinTips, unpublishedTips } from './loose-ends.ts'
import { keepCommit, type RescueOptions } from './rescue.ts'

/**
 * Keeps the work in a worktree's initialised submodules, whose repositories go with it: what is uncommitted, and
 * commits that none of their remotes has. They come under rescue refs of the repository `repo` itself, which stays.
 * Throws where that can't be done (`git_failed`), before anything is lost.
 */
export async function keepSubmodules(
  repo: string,
  path: string,
  task: string,
  options: RescueOptions,
  prefix = '',
): Promise<readonly string[]> {
  const refs: string[] = []
  for (const name of await initialisedSubmodules(path, options)) {
    const inner = join(path, name)
    const shown = `${prefix}${name}`
    refs.push(...(await keepSubmodules(repo, inner, task, options, `${shown}/`)))
    try {
      const ref = await keepOne(repo, inner, shown, task, options)
      if (ref !== null) refs.push(ref)
    } catch (error) {
      if (!(error instanceof GitError) || error.code === 'not_installed') throw error
      throw notKept(inner, error)
    }
  }
  return refs
}

async function keepOne(
  repo: string,
  inner: string,
  shown: string,
  task: string,
  options: RescueOptions,
): Promise<string | null> {
  const { signal } = options
  const kept = await withSnapshot(inner, { signal, objects: 'kept' }, async ({ tree, complete }) => {
    if (!complete) throw notKept(inner)
    const head = await resolveCommit(inner, 'HEAD', { signal })
    const before = head === null ? await emptyTree(inner, { signal }) : await treeOf(inner, head, { signal })
    const files = await countChanged(inner, before, tree, { signal })
    if (before === tree) return { tip: head, files }
    const message = `What was uncommitted in the submodule ${shown} of the workspace of task ${task}\n`
    const parents = head === null ? [] : [head]
    return { tip: await commitTree(inner, { tree, parents, message }, { signal }), files }
  })
  const tips = await unpublishedTips(inner, kept.tip, options)
  if (tips.length === 0) return null
  const commit = await joinTips(inner, tips, task, options)
  await bringOver(repo, inner, commit, options)
  return await keepCommit(repo, commit, task, {
    ...options,
    note: { kind: 'commits', files: kept.files, submodule: shown },
  })
}

/** Copies a commit with its history from one repository into the other. */
async function bringOver(repo: string, inner: string, commit: string, { signal }: RescueOptions): Promise<void> {
  // A shallow history would make the whole repository a shallow one.
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

/** The submodules that have a repository of their own there, by what the index says. */
async function initialisedSubmodules(path: string, { signal }: RescueOptions): Promise<readonly string[]> {
  const { stdout } = await runGit(path, ['ls-files', '--stage', '-z', '--full-name', ':/'], { signal })
  const links = splitNul(stdout).filter((line) => line.startsWith('160000 '))
  const found: string[] = []
  for (const name of new Set(links.map((line) => line.slice(line.indexOf('\t') + 1)))) {
    if ((await orNull(lstat(join(path, name, '.git')))) !== null) found.push(name)
  }
  return found
}

function notKept(inner: string, cause?: unknown): WorkspaceError {
  return new WorkspaceError(
    'git_failed',
    `The submodule ${inner} has work that could not be kept, so nothing was removed. ` +
      'Push or discard its changes there, then try again.',
    { cause },
  )
}
