import type { GitHosting } from '../fakes/git-http-server.ts'
import type { ForgeGit, ForgeMerge } from '../fakes/forges/forge-git.ts'

/** Lets a scripted forge work on real bare repositories. Forks aren't reached: a head lies in the target's repository. */
export function bareForgeGit(hosting: GitHosting): ForgeGit {
  const git = (name: string, ...args: readonly string[]) => hosting.git(name, args)
  const orNull = async (work: Promise<string>) => {
    try {
      return await work
    } catch {
      return null
    }
  }
  const head: ForgeGit['head'] = (repository, branch) =>
    orNull(git(repository, 'rev-parse', '--verify', '--quiet', `refs/heads/${branch}`))
  const treeOf = async ({ repository, target, head: theirs }: ForgeMerge) => {
    const merged = await orNull(git(repository, 'merge-tree', '--write-tree', target, theirs.commit))
    return merged?.split('\n')[0] ?? null
  }
  return {
    head,
    mergeBase: (repository, one, other) => orNull(git(repository, 'merge-base', one, other)),
    conflicts: async (merge) => (await treeOf(merge)) === null,
    merge: async (merge) => {
      const { repository, target, method, title } = merge
      const tree = await treeOf(merge)
      if (tree === null) throw new Error(`${merge.head.branch} conflicts with ${target}.`)
      const tip = await git(repository, 'rev-parse', target)
      const second = method === 'merge' ? ['-p', merge.head.commit] : []
      const commit = await git(repository, 'commit-tree', tree, '-p', tip, ...second, '-m', title)
      await git(repository, 'update-ref', `refs/heads/${target}`, commit, tip)
      return commit
    },
    remove: async (repository, branch) => void (await git(repository, 'update-ref', '-d', `refs/heads/${branch}`)),
  }
}
