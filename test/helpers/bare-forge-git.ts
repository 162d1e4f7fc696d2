import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { ForgeGit, ForgeMerge } from '../fakes/forges/forge-git.ts'
import type { GitHosting } from '../fakes/git-http-server.ts'
import { testGitEnvironment } from './git-repository.ts'

const execute = promisify(execFile)

/** Lets a scripted forge work on real bare repositories, by real git. */
export function bareForgeGit({ root }: GitHosting): ForgeGit {
  const folderOf = (repository: string) => join(root, `${repository}.git`)
  const run = async (folder: string, ...args: readonly string[]) => {
    const env = { ...process.env, ...testGitEnvironment }
    return (await execute('git', ['-C', folder, ...args], { env })).stdout.trim()
  }
  const runOr = async <T>(fallback: T, folder: string, ...args: readonly string[]) =>
    run(folder, ...args).catch(() => fallback)
  /** Where a commit was last seen as a head, for what comes from a fork. */
  const seen = new Map<string, string>()
  const bring = async (repository: string, commit: string) => {
    const from = seen.get(commit)
    if (from === undefined || from === repository) return
    await run(folderOf(repository), 'fetch', '--quiet', folderOf(from), '+refs/heads/*:refs/from-forks/*')
  }
  return {
    head: async (repository, branch) => {
      const ref = `refs/heads/${branch}`
      const commit = await runOr(null, folderOf(repository), 'rev-parse', '--verify', '--quiet', ref)
      if (commit !== null) seen.set(commit, repository)
      return commit
    },
    mergeBase: async (repository, one, other) => {
      await bring(repository, one)
      await bring(repository, other)
      return runOr(null, folderOf(repository), 'merge-base', one, other)
    },
    conflicts: async ({ repository, target, head }) => {
      await bring(repository, head.commit)
      const tree = await runOr(
        null,
        folderOf(repository),
        'merge-tree',
        '--write-tree',
        `refs/heads/${target}`,
        head.commit,
      )
      return tree === null
    },
    merge: async (merge) => {
      await bring(merge.repository, merge.head.commit)
      const folder = folderOf(merge.repository)
      const before = await run(folder, 'rev-parse', `refs/heads/${merge.target}`)
      const after = await (merge.method === 'rebase'
        ? rebase(run, folder, before, merge)
        : write(run, folder, before, merge))
      await run(folder, 'update-ref', `refs/heads/${merge.target}`, after, before)
      return after
    },
    remove: async (repository, branch) =>
      void (await run(folderOf(repository), 'update-ref', '-d', `refs/heads/${branch}`)),
  }
}

type Run = (folder: string, ...args: readonly string[]) => Promise<string>

/** Writes the commit of a merge, or of a squash: the same without the second parent. */
async function write(run: Run, folder: string, before: string, { head, method, title }: ForgeMerge): Promise<string> {
  const tree = await run(folder, 'merge-tree', '--write-tree', before, head.commit)
  const second = method === 'merge' ? ['-p', head.commit] : []
  return run(folder, 'commit-tree', tree, '-p', before, ...second, '-m', title)
}

async function rebase(run: Run, folder: string, before: string, { head }: ForgeMerge): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), 'copse-rebase-'))
  const worktree = join(parent, 'tree')
  try {
    await run(folder, 'worktree', 'add', '--quiet', '--detach', worktree, head.commit)
    await run(worktree, 'rebase', '--quiet', before)
    return await run(worktree, 'rev-parse', 'HEAD')
  } finally {
    await run(folder, 'worktree', 'remove', '--force', worktree).catch(() => undefined)
    await rm(parent, { recursive: true, force: true })
  }
}
