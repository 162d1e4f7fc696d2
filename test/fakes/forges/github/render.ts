import type {
  CheckRun,
  FakeComment,
  FakeIssue,
  FakePull,
  FakeRepository,
  FakeReview,
  FakeUser,
  WorkflowRun,
} from './state.ts'
import { isProtected, mergeState, requiredChecks } from './rules.ts'
import { noProtection, sha, userOf, type World } from './world.ts'

/** The REST API's answers, with the fields that matter to a client of pull requests. */

export const renderUser = (world: World, { login, type }: FakeUser) => ({
  login,
  id: parseInt(sha(login).slice(0, 7), 16),
  type,
  html_url: `${world.web}/${login}`,
  site_admin: false,
})

const userOrNull = (world: World, user: FakeUser | null) => (user === null ? null : renderUser(world, user))

export function renderRepository(world: World, repository: FakeRepository, login: string) {
  const { id, full_name, archived, default_branch, roles } = repository
  const [owner = '', name = ''] = full_name.split('/')
  const role = roles.get(login) ?? 'read'
  const push = role === 'admin' || role === 'write'
  return {
    id,
    node_id: `R_${id}`,
    name,
    full_name,
    owner: renderUser(world, userOf(world, owner)),
    private: repository.private,
    html_url: `${world.web}/${full_name}`,
    clone_url: `${world.web}/${full_name}.git`,
    ssh_url: `git@${new URL(world.web).hostname}:${full_name}.git`,
    default_branch,
    archived,
    permissions: { admin: role === 'admin', maintain: role === 'admin', push, triage: role !== 'read', pull: true },
    // Only whoever may push is told how it merges.
    ...(push && {
      allow_merge_commit: repository.allow_merge_commit,
      allow_squash_merge: repository.allow_squash_merge,
      allow_rebase_merge: repository.allow_rebase_merge,
      allow_auto_merge: repository.allow_auto_merge,
    }),
  }
}

const labels = ({ labels: names }: FakeIssue) => [...names].map((name) => ({ name, color: 'ededed', default: false }))

export function renderIssue(world: World, issue: FakeIssue) {
  const { repository, number, title, body, state, user, created_at, updated_at, comments } = issue
  return {
    number,
    title,
    body,
    state,
    user: renderUser(world, user),
    labels: labels(issue),
    comments: comments.length,
    html_url: `${world.web}/${repository.full_name}/issues/${number}`,
    author_association: associationOf(repository, user),
    created_at,
    updated_at,
    ...(repository.pulls.has(number) && {
      pull_request: { url: `${world.api}/repos/${repository.full_name}/pulls/${number}` },
    }),
  }
}

export const associationOf = ({ associations }: FakeRepository, user: FakeUser | null) =>
  user === null ? 'NONE' : (associations.get(user.login) ?? 'NONE')

const nameNow = ({ repositories }: World, name: string) =>
  repositories.find(({ git_name }) => git_name === name)?.full_name ?? name

function renderHead(world: World, pull: FakePull) {
  const { owner, branch } = pull.head
  const repository = pull.head.repository === null ? null : nameNow(world, pull.head.repository)
  return {
    label: `${owner}:${branch}`,
    ref: branch,
    sha: pull.commit,
    user: renderUser(world, userOf(world, owner)),
    repo: repository === null ? null : { full_name: repository, name: repository.split('/')[1] },
  }
}

/** `whole`: the answer for one pull request, which lists don't give. */
export function renderPull(world: World, pull: FakePull, whole: boolean) {
  const { repository, number, state, merged, base, updated_at, auto_merge } = pull
  const { comments, pull_request, ...issue } = { pull_request: null, ...renderIssue(world, pull) }
  const known = pull.computing === 0 && state === 'open'
  return {
    ...issue,
    node_id: pull.node_id,
    html_url: `${world.web}/${repository.full_name}/pull/${number}`,
    draft: pull.draft,
    merged_at: merged ? updated_at : null,
    closed_at: state === 'closed' ? updated_at : null,
    // Of an open one, the merge on trial.
    merge_commit_sha: merged ? pull.merge_commit : sha(`trial ${pull.commit} ${base}`),
    requested_reviewers: [...pull.requested].map((login) => renderUser(world, userOf(world, login))),
    requested_teams: [...pull.requestedTeams].map((slug) => ({ slug, name: slug })),
    head: renderHead(world, pull),
    base: {
      label: `${repository.full_name.split('/')[0]}:${base}`,
      ref: base,
      sha: sha(`base ${base}`),
      repo: { full_name: repository.full_name, name: repository.full_name.split('/')[1] },
    },
    auto_merge:
      auto_merge === null
        ? null
        : { enabled_by: renderUser(world, userOf(world, auto_merge.by)), merge_method: auto_merge.method },
    ...(pull.stack !== null && { stack: { id: 1, ...pull.stack, base: { ref: base, sha: sha(base) } } }),
    ...(whole && {
      merged,
      mergeable: known ? !pull.conflict : null,
      mergeable_state: mergeState(pull),
      comments: comments,
      commits: 1,
    }),
  }
}

export function renderComment(world: World, repository: FakeRepository, comment: FakeComment, url: string) {
  const { id, user, body, created_at } = comment
  return {
    id,
    node_id: `IC_${id}`,
    html_url: url,
    user: userOrNull(world, user),
    author_association: associationOf(repository, user),
    body,
    created_at,
    updated_at: created_at,
  }
}

export function renderReview(world: World, { repository, number, commit }: FakePull, review: FakeReview) {
  const { id, user, state, body, submitted_at } = review
  return {
    id,
    node_id: `PRR_${id}`,
    user: renderUser(world, user),
    author_association: associationOf(repository, user),
    state,
    body,
    html_url: `${world.web}/${repository.full_name}/pull/${number}#pullrequestreview-${id}`,
    commit_id: commit,
    // A review that isn't sent yet has no such field.
    ...(submitted_at !== null && { submitted_at }),
  }
}

export function renderCheckRun(world: World, repository: FakeRepository, run: CheckRun) {
  const { id, name, app, commit, status, conclusion, details_url } = run
  return {
    id,
    name,
    head_sha: commit,
    node_id: `CR_${id}`,
    external_id: '',
    status,
    conclusion,
    html_url: run.run === null ? `${world.web}/${repository.full_name}/runs/${id}` : details_url,
    details_url,
    app: { ...app, name: app.slug },
    output: { title: null, summary: null, text: null, annotations_count: 0 },
  }
}

export function renderRun(world: World, repository: FakeRepository, run: WorkflowRun) {
  const { id, name, event, commit, attempt, updated_at } = run
  const jobs = jobsOf(repository, run)
  const isOver = run.conclusion !== null || (jobs.length > 0 && jobs.every(({ status }) => status === 'completed'))
  const isRed = jobs.some(({ conclusion }) => conclusion === 'failure')
  return {
    id,
    name,
    event,
    head_sha: commit,
    run_attempt: attempt,
    status: isOver ? 'completed' : jobs.some(({ status }) => status !== 'queued') ? 'in_progress' : 'queued',
    conclusion: isOver ? (run.conclusion ?? (isRed ? 'failure' : 'success')) : null,
    html_url: `${world.web}/${repository.full_name}/actions/runs/${id}`,
    updated_at,
  }
}

/** Of each name, the job of the latest attempt. */
export function jobsOf({ checkRuns }: FakeRepository, run: WorkflowRun): readonly CheckRun[] {
  return [...new Map(checkRuns.filter((one) => one.run?.id === run.id).map((one) => [one.name, one])).values()]
}

export function renderJob(world: World, repository: FakeRepository, job: CheckRun) {
  const { id, name, status, conclusion, commit, details_url, run } = job
  return {
    id,
    run_id: run?.id,
    run_attempt: run?.attempt,
    head_sha: commit,
    name,
    status,
    conclusion,
    html_url: details_url,
    check_run_url: `${world.api}/repos/${repository.full_name}/check-runs/${id}`,
    workflow_name: run?.name,
  }
}

/** What `GET /branches/{branch}` tells of protection; rulesets aren't in it. */
export function renderBranch(repository: FakeRepository, name: string, commit: string) {
  const protection = repository.protection.get(name) ?? noProtection()
  const classic = requiredChecks({ ...protection, rules: [] })
  const isOn = protection.classic !== null
  return {
    name,
    commit: { sha: commit },
    protected: isProtected(protection),
    protection: {
      enabled: isOn,
      required_status_checks: {
        enforcement_level: isOn ? 'non_admins' : 'off',
        contexts: classic.map(({ context }) => context),
        checks: classic.map(({ context, app }) => ({ context, app_id: app })),
      },
    },
  }
}
