import { createHash } from 'node:crypto'

export interface ForgeMerge {
  /** `owner/name` of the target's repository. */
  readonly repository: string
  readonly target: string
  readonly head: { readonly repository: string; readonly branch: string; readonly commit: string }
  readonly method: 'merge' | 'squash' | 'rebase'
  readonly title: string
}

/** The repositories of a scripted forge. In memory, or what stands for real bare ones. */
export interface ForgeGit {
  /** The commit of a branch; null: there is none. */
  head(repository: string, branch: string): Promise<string | null>
  /** The commit where two parted; null: they have none in common. */
  mergeBase(repository: string, one: string, other: string): Promise<string | null>
  conflicts(merge: ForgeMerge): Promise<boolean>
  /** Answers the new commit of the target. */
  merge(merge: ForgeMerge): Promise<string>
  remove(repository: string, branch: string): Promise<void>
}

/** Branches without contents: a commit is a name and a parent. */
export interface MemoryGit extends ForgeGit {
  /** Makes a commit on a branch, on what `from` has if the branch is new, and answers it. */
  commit(repository: string, branch: string, from?: string): string
  /** Branches as `owner/name branch` that conflict with every other one. */
  readonly conflicting: Set<string>
}

export function createMemoryGit(): MemoryGit {
  const branches = new Map<string, string>()
  const parents = new Map<string, string | null>()
  const conflicting = new Set<string>()
  const key = (repository: string, branch: string) => `${repository.toLowerCase()} ${branch}`
  const ancestors = (commit: string | null) => {
    const found: string[] = []
    for (let at = commit; at !== null; at = parents.get(at) ?? null) found.push(at)
    return found
  }
  const commit = (repository: string, branch: string, from = branch) => {
    const parent = branches.get(key(repository, branch)) ?? branches.get(key(repository, from)) ?? null
    const name = createHash('sha1').update(`${parents.size} ${repository} ${branch}`).digest('hex')
    parents.set(name, parent)
    branches.set(key(repository, branch), name)
    return name
  }
  return {
    commit,
    conflicting,
    head: async (repository, branch) => branches.get(key(repository, branch)) ?? null,
    mergeBase: async (_repository, one, other) => {
      const known = new Set(ancestors(one))
      return ancestors(other).find((name) => known.has(name)) ?? null
    },
    conflicts: async ({ head }) => conflicting.has(`${head.repository} ${head.branch}`),
    merge: async ({ repository, target, head, method }) => {
      if (method !== 'rebase') return commit(repository, target)
      branches.set(key(repository, target), head.commit)
      return head.commit
    },
    remove: async (repository, branch) => void branches.delete(key(repository, branch)),
  }
}
