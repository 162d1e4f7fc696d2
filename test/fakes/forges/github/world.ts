import { createHash } from 'node:crypto'
import type { ForgeGit, ForgeMerge } from '../forge-git.ts'
import type {
  FakeIssue,
  FakePull,
  FakeRepository,
  FakeThread,
  FakeToken,
  FakeUser,
  MergeMethod,
  Protection,
} from './state.ts'

/** The server's state and what all of its parts use. */
export interface World {
  /** Address of its pages. */
  readonly web: string
  /** Address of its REST API. */
  readonly api: string
  /** Address of what keeps its logs, at another origin. */
  blobs: string
  readonly git: ForgeGit
  readonly isEnterprise: boolean
  readonly repositories: FakeRepository[]
  readonly users: Map<string, FakeUser>
  readonly tokens: Map<string, FakeToken>
  /** Counts up, for ids of all kinds. */
  nextId(): number
  /** The time now, as GitHub writes it. */
  time(): string
}

/** GitHub's own limits. */
export const maxTitle = 256
export const maxBody = 65_536

export function userOf(world: World, login: string): FakeUser {
  const known = world.users.get(login.toLowerCase())
  if (known) return known
  const user: FakeUser = { login, type: login.endsWith('[bot]') ? 'Bot' : 'User' }
  world.users.set(login.toLowerCase(), user)
  return user
}

export function findRepository(
  world: World,
  name: string,
): { readonly found: FakeRepository; readonly moved: boolean } | null {
  const is = (other: string) => other.toLowerCase() === name.toLowerCase()
  const found = world.repositories.find(({ full_name }) => is(full_name))
  if (found) return { found, moved: false }
  const renamed = world.repositories.find(({ former_names }) => former_names.some(is))
  return renamed ? { found: renamed, moved: true } : null
}

export const noProtection = (): Protection => ({
  classic: null,
  rules: [],
  approvals: 0,
  queue: false,
  enforceAdmins: false,
})

export function nextNumber({ issues, pulls, deleted }: FakeRepository): number {
  return Math.max(0, ...issues.keys(), ...pulls.keys(), ...deleted) + 1
}

/** Issues and pull requests are numbered and commented alike. */
export const issueOf = (repository: FakeRepository, number: number): FakeIssue | undefined =>
  repository.pulls.get(number) ?? repository.issues.get(number)

export function allThreads(world: World): readonly FakeThread[] {
  return world.repositories.flatMap(({ pulls }) => [...pulls.values()].flatMap(({ threads }) => threads))
}

export function touch(world: World, issue: FakeIssue): void {
  issue.updated_at = world.time()
}

export function mergeOf({ repository, head, commit, base, number, title }: FakePull, method: MergeMethod): ForgeMerge {
  return {
    repository: repository.git_name,
    target: base,
    head: { repository: head.repository ?? repository.git_name, branch: head.branch, commit },
    method,
    title: method === 'squash' ? `${title} (#${number})` : `Merge pull request #${number} from ${head.branch}`,
  }
}

/**
 * An open pull request follows its branches: without one of them GitHub closes it, and once its target has its commit
 * it is merged, whoever did it.
 */
export async function followBranches(world: World, pull: FakePull): Promise<void> {
  const { repository, branch } = pull.head
  if (pull.state !== 'open' || repository === null) return
  const commit = await world.git.head(repository, branch)
  const base = await world.git.head(pull.repository.git_name, pull.base)
  if (commit === null || base === null) return end(world, pull, {})
  if (commit !== pull.commit) {
    pull.commit = commit
    pull.queued = false
    for (const thread of pull.threads) thread.outdated = true
    touch(world, pull)
  }
  if ((await world.git.mergeBase(pull.repository.git_name, base, commit)) === commit) {
    return end(world, pull, { merged: true, merge_commit: base })
  }
  pull.conflict = await world.git.conflicts(mergeOf(pull, 'merge'))
}

/** Closes a pull request, merged or not. */
export function end(world: World, pull: FakePull, how: Partial<FakePull>): void {
  Object.assign(pull, { state: 'closed', queued: false, auto_merge: null, ...how })
  touch(world, pull)
}

export const sha = (text: string) => createHash('sha1').update(text).digest('hex')
