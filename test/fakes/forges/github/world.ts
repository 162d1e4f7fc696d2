import { createHash } from 'node:crypto'
import type {
  FakeIssue,
  FakePull,
  FakeRepository,
  FakeThread,
  FakeToken,
  FakeUser,
  GithubGit,
  GitMerge,
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
  readonly git: GithubGit
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

/** The head of an open pull request is where its branch is; without the branch, GitHub closes it. */
export async function followHead(world: World, pull: FakePull): Promise<void> {
  const { repository, branch } = pull.head
  if (pull.state !== 'open' || repository === null) return
  const commit = await world.git.commitOf(repository, branch)
  if (commit === null) {
    pull.state = 'closed'
    touch(world, pull)
  } else if (commit !== pull.commit) {
    pull.commit = commit
    for (const thread of pull.threads) thread.outdated = true
    touch(world, pull)
  }
}

export const sha = (text: string) => createHash('sha1').update(text).digest('hex')

/** Branches without files, for tests that need no git. */
export interface MemoryGit extends GithubGit {
  /** `owner/name branch` → commit. */
  readonly branches: Map<string, string>
  push(repository: string, branch: string, commit?: string): string
}

export function createMemoryGit(): MemoryGit {
  const branches = new Map<string, string>()
  let count = 0
  const push = (repository: string, branch: string, commit = sha(`${repository} ${branch} ${count++}`)) => {
    branches.set(`${repository} ${branch}`, commit)
    return commit
  }
  return {
    branches,
    push,
    commitOf: (repository, branch) => branches.get(`${repository} ${branch}`) ?? null,
    merge: ({ repository, target }: GitMerge) => push(repository, target),
  }
}
