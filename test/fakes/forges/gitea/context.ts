import type { ForgeReply, ForgeRequestSeen } from '../forge-server.ts'
import { isDraft } from './show.ts'
import { nextTime, type Issue, type Pull, type Repository, type State } from './state.ts'

export type PullIssue = Issue & { readonly pull: Pull }

export interface Context {
  readonly state: State
  readonly request: ForgeRequestSeen
  /** The root of its pages. */
  readonly url: string
  readonly repository: Repository
  readonly login: string
  /** What the route's groups matched. */
  readonly params: readonly string[]
}

export interface Route {
  readonly method: string
  /** Below the repository. */
  readonly path: RegExp
  readonly scope: 'repository' | 'issue'
  readonly answer: (context: Context) => Promise<ForgeReply> | ForgeReply
}

const swagger = { url: 'https://docs.gitea.com/api/swagger' }

export const failure = (status: number, message: string): ForgeReply => ({ status, body: { message, ...swagger } })

export const notFound = (): ForgeReply => ({
  status: 404,
  body: { errors: null, message: "The target couldn't be found.", ...swagger },
})

export const archived = ({ repository }: Context): ForgeReply =>
  failure(423, `<Repository 1:${repository.fullName}> is archived`)

/** Reads a field of the request's body. */
export function field(request: ForgeRequestSeen, name: string): unknown {
  const { body } = request
  return typeof body === 'object' && body !== null ? (body as Readonly<Record<string, unknown>>)[name] : undefined
}

export function text(request: ForgeRequestSeen, name: string): string {
  const value = field(request, name)
  return typeof value === 'string' ? value : ''
}

/** Answers a page as the real one does; not every list has `Link`. */
export function page(
  { state, url, request }: Context,
  items: readonly unknown[],
  options: { readonly hasLinks: boolean; readonly hidden?: number } = { hasLinks: true },
): ForgeReply {
  const size = Math.min(Number(request.query['limit'] ?? 30) || 30, 50)
  const at = Math.max(Number(request.query['page'] ?? 1) || 1, 1)
  const shown = items.slice((at - 1) * size, at * size)
  const last = Math.ceil(items.length / size)
  const root = state.rootUrl ?? url
  const link = (to: number, rel: string) =>
    `<${root}${request.path}?${new URLSearchParams({ ...request.query, page: String(to) }).toString()}>; rel="${rel}"`
  return {
    status: 200,
    body: shown,
    headers: {
      'x-total-count': String(items.length + (options.hidden ?? 0)),
      ...(options.hasLinks && at < last && { link: [link(at + 1, 'next'), link(last, 'last')].join(',') }),
    },
  }
}

export const findIssue = ({ repository }: Context, number: string): Issue | undefined =>
  repository.issues.find((issue) => issue.number === Number(number))

export function findPull(context: Context, number: string): PullIssue | undefined {
  const issue = findIssue(context, number)
  return issue && hasPull(issue) ? issue : undefined
}

export const hasPull = (issue: Issue): issue is PullIssue => issue.pull !== null

/** Looks at the branches: pushes, deleted ones, and a target that moved. */
export async function look(state: State, repository: Repository, issue: PullIssue): Promise<void> {
  const { pull } = issue
  if (pull.merged !== null || issue.state === 'closed') return
  const head = await state.git.head(pull.head.repository, pull.head.branch)
  const base = await state.git.head(repository.fullName, pull.base)
  pull.isHeadGone = head === null
  if (head === null || base === null) {
    // Deleting a branch closes what comes from it, and what is to go into it.
    issue.state = 'closed'
    return
  }
  if (head === pull.commit && base === pull.baseCommit) return
  if (head !== pull.commit) for (const review of pull.reviews) review.stale = true
  pull.commit = head
  pull.baseCommit = base
  pull.mergeBase = (await state.git.mergeBase(repository.fullName, base, head)) ?? ''
  pull.status = 'checking'
  pull.testReads = 0
  issue.updated_at = nextTime(state)
}

/** Tests for conflicts, which begins when somebody looks and takes its time. */
export async function testConflicts(state: State, repository: Repository, issue: PullIssue): Promise<void> {
  const { pull } = issue
  if (pull.status !== 'checking' || ++pull.testReads < state.conflictTestReads) return
  const merge = mergeOf(repository, issue, 'merge')
  pull.status = (await state.git.conflicts(merge)) ? 'conflict' : 'mergeable'
}

export function mergeOf(repository: Repository, issue: PullIssue, method: 'merge' | 'squash' | 'rebase') {
  const { pull } = issue
  return {
    repository: repository.fullName,
    target: pull.base,
    head: { ...pull.head, commit: pull.commit },
    method,
    title: issue.title,
  }
}

/** Why a pull request can't be merged, as it says; null: it can. */
export function blockedBy(state: State, issue: PullIssue): string | null {
  const { pull } = issue
  if (isDraft(state, issue.title)) return 'Work in progress PRs cannot be merged'
  if (pull.status !== 'mergeable') return 'Please try again later'
  return null
}

/** What a branch protection still waits for; null: nothing. */
export function protectedBy(repository: Repository, issue: PullIssue): string | null {
  const protection = repository.protections.get(issue.pull.base)
  if (!protection) return null
  const { contexts, approvals } = protection
  if (contexts !== null) {
    const newest = new Map(
      repository.statuses
        .filter(({ commit }) => commit === issue.pull.commit)
        .map((status) => [status.context, status.status]),
    )
    const isGood = (context: string) => newest.get(context) === 'success'
    const wanted = contexts.length > 0 ? contexts : [...newest.keys()]
    if (newest.size === 0 || !wanted.every(isGood)) return 'Not all required status checks successful'
  }
  const approved = issue.pull.reviews.filter(({ state, dismissed }) => state === 'APPROVED' && !dismissed)
  return approved.length < approvals ? 'Does not have enough approvals' : null
}
