import type { ForgeGit } from '../forge-git.ts'

export interface User {
  readonly id: number
  readonly username: string
}

export interface Token {
  readonly username: string
  readonly scopes: readonly string[]
  /** A day; it is refused from then on. */
  readonly expires_at: string | null
  isExpired: boolean
}

export interface Position {
  head_sha: string
  readonly new_path: string
  readonly old_path: string
  readonly new_line: number | null
  readonly old_line: number | null
}

export interface Note {
  readonly id: number
  readonly user: string
  body: string
  readonly created_at: string
  readonly system: boolean
  readonly resolvable: boolean
  resolved: boolean
  readonly position: Position | null
}

export interface Discussion {
  readonly id: string
  readonly isSingle: boolean
  readonly notes: Note[]
}

export interface Noteable {
  readonly iid: number
  readonly user: string
  title: string
  description: string
  state: 'opened' | 'closed' | 'merged' | 'locked'
  readonly labels: Set<string>
  readonly discussions: Discussion[]
  updated_at: string
}

export interface MergeRequest extends Noteable {
  readonly source: { readonly project: number; readonly branch: string }
  target: string
  sha: string
  base: string
  status: 'preparing' | 'checking' | 'can_be_merged' | 'cannot_be_merged'
  /** How often it was asked for since its test for conflicts began. */
  testReads: number
  squash: boolean
  mergeCommit: string | null
  squashCommit: string | null
  autoMerge: boolean
  /** Its place on the merge train. */
  car: 'idle' | 'fresh' | null
  readonly approvals: Map<string, string>
  /** username → state of the review. */
  readonly reviewers: Map<string, string>
}

export interface Job {
  readonly id: number
  readonly name: string
  readonly pipeline: number
  status: string
  readonly allowFailure: boolean
  isRetried: boolean
  log: string | null
}

export interface Pipeline {
  readonly id: number
  readonly project: number
  readonly sha: string
  /** Of a merge request: the head that its sha was made of. */
  readonly head: string
}

export interface ExternalStatus {
  readonly id: number
  readonly sha: string
  readonly name: string
  status: string
  readonly targetUrl: string
  readonly pipeline: number
}

export interface Project {
  readonly id: number
  path: string
  readonly forkOf: number | null
  archived: boolean
  /** username → access level. */
  readonly members: Map<string, number>
  mergeMethod: 'merge' | 'rebase_merge' | 'ff'
  squashOption: 'never' | 'always' | 'default_on' | 'default_off'
  mustSucceed: boolean
  mustResolve: boolean
  approvalsRequired: number
  /** null: the edition has none. */
  trains: boolean | null
  readonly issues: Noteable[]
  readonly mergeRequests: MergeRequest[]
  readonly pipelines: Pipeline[]
  readonly jobs: Job[]
  readonly statuses: ExternalStatus[]
}

/** All that a scripted GitLab keeps. */
export interface State {
  readonly git: ForgeGit
  readonly users: User[]
  readonly tokens: Map<string, Token>
  readonly projects: Project[]
  /** Former paths, in lower case, and whose they were. */
  readonly moved: Map<string, number>
  /** Commands that ran from texts, as `/close`. */
  readonly commands: string[]
  /** How often a merge request is asked for until the test for conflicts is done; Infinity: it sticks. */
  conflictTestReads: number
  /** Requests left until the limit; null: there is none. */
  remaining: number | null
  /** How often it answered 304. */
  notModified: number
  /** Where the next ID and time come from. */
  last: number
}

export const nextId = (state: State) => ++state.last

/** Times a second apart, so that later is later. */
export const nextTime = (state: State) => new Date(Date.UTC(2026, 0, 1) + ++state.last * 1_000).toISOString()

export function userOf(state: State, username: string): User {
  const known = state.users.find((user) => user.username === username)
  if (known) return known
  const user = { id: nextId(state), username }
  state.users.push(user)
  return user
}

export function accessOf(project: Project, username: string): number {
  return project.path.split('/')[0] === username ? 50 : (project.members.get(username) ?? 0)
}

export function projectById(state: State, id: number): Project {
  const project = state.projects.find((each) => each.id === id)
  if (!project) throw new Error(`There is no project ${id}.`)
  return project
}
