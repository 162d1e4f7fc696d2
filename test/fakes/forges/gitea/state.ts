import type { ForgeGit } from '../forge-git.ts'

export interface User {
  readonly id: number
  readonly login: string
}

export interface Token {
  readonly login: string
  /** `write:repository` and the like; `all`. */
  readonly scopes: readonly string[]
}

export interface Label {
  readonly id: number
  readonly name: string
  readonly color: string
}

export interface Comment {
  readonly id: number
  readonly user: string
  readonly body: string
  readonly created_at: string
}

export interface CodeComment extends Comment {
  readonly review: number
  readonly path: string
  /** Negative: a line of the old file. */
  readonly line: number
  readonly commit: string
  resolver: string | null
}

export interface Review {
  readonly id: number
  readonly user: string
  state: 'APPROVED' | 'PENDING' | 'COMMENT' | 'REQUEST_CHANGES' | 'REQUEST_REVIEW'
  body: string
  commit: string
  stale: boolean
  dismissed: boolean
  readonly created_at: string
}

export interface Pull {
  readonly head: { readonly repository: string; readonly branch: string }
  base: string
  /** The head as of the last push that the forge saw; it stays once the branch is gone. */
  commit: string
  baseCommit: string
  mergeBase: string
  isHeadGone: boolean
  /** How often it was asked for since its test for conflicts began. */
  testReads: number
  status: 'checking' | 'mergeable' | 'conflict'
  merged: string | null
  /** How a scheduled merge would be done. */
  scheduled: string | null
  readonly reviews: Review[]
  readonly codeComments: CodeComment[]
}

export interface Issue {
  readonly number: number
  readonly user: string
  title: string
  body: string
  state: 'open' | 'closed'
  readonly labels: Set<number>
  readonly comments: Comment[]
  readonly timeline: { readonly type: string }[]
  updated_at: string
  readonly pull: Pull | null
}

export interface Status {
  readonly id: number
  readonly commit: string
  readonly context: string
  readonly status: 'pending' | 'success' | 'error' | 'failure' | 'warning' | 'skipped'
  readonly description: string
  readonly target_url: string
}

export interface Job {
  readonly id: number
  readonly run: number
  readonly commit: string
  readonly name: string
  log: string | null
  /** How often it was run. */
  attempts: number
}

export interface Protection {
  readonly contexts: readonly string[] | null
  readonly approvals: number
}

export interface Repository {
  /** As `owner/name`. */
  fullName: string
  readonly forkOf: string | null
  archived: boolean
  /** login → right. */
  readonly members: Map<string, 'read' | 'write' | 'admin'>
  methods: { merge: boolean; squash: boolean; rebase: boolean; rebaseMerge: boolean; fastForward: boolean }
  defaultMethod: string
  readonly labels: Label[]
  readonly issues: Issue[]
  readonly statuses: Status[]
  readonly jobs: Job[]
  readonly protections: Map<string, Protection>
}

/** All that a scripted Gitea keeps. */
export interface State {
  /** As `/api/v1/version` says it. */
  version: string
  readonly git: ForgeGit
  readonly tokens: Map<string, Token>
  readonly repositories: Map<string, Repository>
  /** Former names and what they are now. */
  readonly renamed: Map<string, string>
  /** Prefixes of titles of drafts. */
  draftPrefixes: readonly string[]
  /** How often a pull request is asked for until the test for conflicts is done; Infinity: it sticks. */
  conflictTestReads: number
  /** Its own name, which its `Link` headers have; null: the one that it is asked by. */
  rootUrl: string | null
  /** Where the next ID and time come from. */
  last: number
}

export const nextId = (state: State) => ++state.last

/** Times a second apart, so that later is later. */
export const nextTime = (state: State) => new Date(Date.UTC(2026, 0, 1) + ++state.last * 1_000).toISOString()

export const isForgejo = (state: State) => state.version.includes('+gitea-')

/** Minor version of Gitea 1; that of Forgejo's base doesn't count. */
export const minorVersion = (state: State) => (isForgejo(state) ? 0 : Number(state.version.split('.')[1] ?? 0))

export function rightOf(repository: Repository, login: string): 'none' | 'read' | 'write' | 'admin' {
  if (repository.fullName.split('/')[0] === login) return 'admin'
  return repository.members.get(login) ?? 'none'
}

export const mayWrite = (repository: Repository, login: string) =>
  ['write', 'admin'].includes(rightOf(repository, login))
