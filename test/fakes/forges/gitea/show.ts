import { isForgejo, mayWrite, rightOf, type CodeComment, type Issue, type Job, type Pull } from './state.ts'
import type { Repository, Review, State, Status } from './state.ts'

/** What records look like in its answers. */

const web = (url: string, repository: Repository) => `${url}/${repository.fullName}`

export const showUser = (login: string) => ({ id: login.length, login, full_name: '', username: login })

export function showRepository(url: string, repository: Repository, login: string) {
  const right = rightOf(repository, login)
  return {
    id: 1,
    name: repository.fullName.split('/')[1],
    full_name: repository.fullName,
    html_url: web(url, repository),
    clone_url: `${web(url, repository)}.git`,
    ssh_url: `git@127.0.0.1:${repository.fullName}.git`,
    default_branch: 'main',
    archived: repository.archived,
    permissions: { admin: right === 'admin', push: ['write', 'admin'].includes(right), pull: true },
    has_pull_requests: true,
    allow_merge_commits: repository.methods.merge,
    allow_squash_merge: repository.methods.squash,
    allow_rebase: repository.methods.rebase,
    allow_rebase_explicit: repository.methods.rebaseMerge,
    allow_fast_forward_only_merge: repository.methods.fastForward,
    default_merge_style: repository.defaultMethod,
  }
}

export function isDraft(state: State, title: string): boolean {
  return state.draftPrefixes.some((prefix) => title.toUpperCase().startsWith(prefix.toUpperCase()))
}

export function showPull(
  at: { readonly url: string; readonly state: State; readonly repository: Repository },
  issue: Issue & { readonly pull: Pull },
  login: string,
) {
  const { url, state, repository } = at
  const { pull } = issue
  const page = `${web(url, repository)}/pulls/${issue.number}`
  const headRepository = state.repositories.get(pull.head.repository.toLowerCase())
  const isOld = state.version.startsWith('1.20')
  return {
    id: issue.number,
    number: issue.number,
    // Yes, the page's.
    url: page,
    html_url: page,
    state: issue.state,
    title: issue.title,
    body: issue.body,
    user: showUser(issue.user),
    labels: repository.labels.filter(({ id }) => issue.labels.has(id)),
    ...(!isOld && { draft: isDraft(state, issue.title) }),
    merged: pull.merged !== null,
    mergeable: pull.status === 'mergeable' && !isDraft(state, issue.title),
    merge_commit_sha: pull.merged,
    merge_base: pull.mergeBase,
    updated_at: issue.updated_at,
    base: { label: pull.base, ref: pull.base, sha: pull.baseCommit, repo: showRepository(url, repository, login) },
    head: {
      label: pull.head.branch,
      ref: pull.isHeadGone ? `refs/pull/${issue.number}/head` : pull.head.branch,
      sha: pull.commit,
      repo: headRepository ? showRepository(url, headRepository, login) : null,
    },
  }
}

export const showIssue = (url: string, repository: Repository, issue: Issue) => ({
  id: issue.number,
  number: issue.number,
  html_url: `${web(url, repository)}/issues/${issue.number}`,
  title: issue.title,
  body: issue.body,
  state: issue.state,
  user: showUser(issue.user),
  labels: repository.labels.filter(({ id }) => issue.labels.has(id)),
  updated_at: issue.updated_at,
  // Of one that is closed, the last change here was to close it.
  closed_at: issue.state === 'closed' ? issue.updated_at : null,
})

export const showComment = ({ id, body, user, created_at }: Issue['comments'][number]) => ({
  id,
  body,
  user: showUser(user),
  created_at,
  updated_at: created_at,
})

export function showReview(review: Review, pull: Pull) {
  return {
    id: review.id,
    user: showUser(review.user),
    team: null,
    state: review.state,
    body: review.body,
    commit_id: review.commit,
    stale: review.stale,
    official: true,
    dismissed: review.dismissed,
    comments_count: pull.codeComments.filter((comment) => comment.review === review.id).length,
    submitted_at: review.created_at,
  }
}

export function showCodeComment(page: string, comment: CodeComment) {
  return {
    id: comment.id,
    body: comment.body,
    user: showUser(comment.user),
    resolver: comment.resolver === null ? null : showUser(comment.resolver),
    pull_request_review_id: comment.review,
    created_at: comment.created_at,
    path: comment.path,
    commit_id: comment.commit,
    original_commit_id: '',
    diff_hunk: '',
    position: Math.max(comment.line, 0),
    original_position: Math.max(-comment.line, 0),
    html_url: `${page}#issuecomment-${comment.id}`,
    pull_request_url: page,
  }
}

export const showStatus = ({ id, context, status, description, target_url }: Status) => ({
  id,
  context,
  status,
  description,
  target_url,
})

export const showJob = (url: string, repository: Repository, job: Job) => ({
  id: job.id,
  run_id: job.run,
  name: job.name,
  head_sha: job.commit,
  html_url: `${web(url, repository)}/actions/runs/${job.run}/jobs/${job.id}`,
})

export const writers = (repository: Repository) =>
  [repository.fullName.split('/')[0] ?? '', ...repository.members.keys()].filter((login) => mayWrite(repository, login))

/** A repository's branch, with what protects it. */
export function showBranch(state: State, repository: Repository, name: string, commit: string) {
  const protection = repository.protections.get(name)
  return {
    name,
    commit: { id: commit },
    protected: protection !== undefined,
    required_approvals: protection?.approvals ?? 0,
    enable_status_check: protection?.contexts !== null && protection !== undefined,
    status_check_contexts: protection?.contexts ?? (isForgejo(state) ? null : []),
    user_can_push: true,
    user_can_merge: true,
    effective_branch_protection_name: '',
  }
}
