import {
  archived,
  blockedBy,
  failure,
  field,
  findPull,
  hasPull,
  look,
  mergeOf,
  notFound,
  page,
  protectedBy,
  testConflicts,
  text,
} from './context.ts'
import type { Context, PullIssue, Route } from './context.ts'
import { showPull } from './show.ts'
import { mayWrite, nextTime, type Pull } from './state.ts'

export const pullRoutes: readonly Route[] = [
  { method: 'GET', path: /^\/pulls$/, scope: 'repository', answer: listPulls },
  { method: 'POST', path: /^\/pulls$/, scope: 'repository', answer: openPull },
  { method: 'GET', path: /^\/pulls\/(\d+)$/, scope: 'repository', answer: readPull },
  { method: 'PATCH', path: /^\/pulls\/(\d+)$/, scope: 'repository', answer: editPull },
  { method: 'POST', path: /^\/pulls\/(\d+)\/merge$/, scope: 'repository', answer: mergePull },
  { method: 'DELETE', path: /^\/pulls\/(\d+)\/merge$/, scope: 'repository', answer: cancelMerge },
]

const show = (context: Context, issue: PullIssue) => showPull(context, issue, context.login)

async function listPulls(context: Context) {
  const { state, repository, request } = context
  const wanted = request.query['state'] ?? 'open'
  const pulls = repository.issues.filter(hasPull)
  for (const issue of pulls) await look(state, repository, issue)
  const listed = pulls.filter((issue) => wanted === 'all' || issue.state === wanted).reverse()
  return page(
    context,
    listed.map((issue) => show(context, issue)),
  )
}

async function readPull(context: Context) {
  const issue = findPull(context, context.params[0] ?? '')
  if (!issue) return notFound()
  await look(context.state, context.repository, issue)
  const body = show(context, issue)
  await testConflicts(context.state, context.repository, issue)
  return { status: 200, body }
}

async function openPull(context: Context) {
  const { state, repository, request, login } = context
  if (repository.archived) return archived(context)
  const [owner, branch] = text(request, 'head').includes(':')
    ? text(request, 'head').split(':')
    : [null, text(request, 'head')]
  const fork = [...state.repositories.values()].find(
    (each) => each.fullName.split('/')[0] === owner && each.forkOf === repository.fullName,
  )
  const from = owner === null || owner === repository.fullName.split('/')[0] ? repository : fork
  if (!from || branch === undefined) return notFound()
  const base = text(request, 'base')
  const commit = await state.git.head(from.fullName, branch)
  const baseCommit = await state.git.head(repository.fullName, base)
  if (commit === null || baseCommit === null) return notFound()
  if (text(request, 'title') === '') return failure(422, '[Title]: Required')
  const same = await openOne(context, from.fullName, branch, base)
  if (same) {
    const ids = `id: ${same.number}, issue_id: ${same.number}, head_repo_id: 1, base_repo_id: 1`
    const names = `head_branch: ${branch}, base_branch: ${base}`
    return failure(409, `pull request already exists for these targets [${ids}, ${names}]`)
  }
  const pull: Pull = {
    head: { repository: from.fullName, branch },
    base,
    commit,
    baseCommit,
    mergeBase: (await state.git.mergeBase(repository.fullName, baseCommit, commit)) ?? '',
    isHeadGone: false,
    testReads: 0,
    status: 'checking',
    merged: null,
    scheduled: null,
    reviews: [],
    codeComments: [],
  }
  const labels = field(request, 'labels')
  const issue: PullIssue = {
    number: repository.issues.length + 1,
    user: login,
    title: text(request, 'title'),
    body: text(request, 'body'),
    state: 'open',
    labels: new Set(Array.isArray(labels) ? labels.filter((id) => typeof id === 'number') : []),
    comments: [],
    timeline: [],
    updated_at: nextTime(state),
    pull,
  }
  repository.issues.push(issue)
  return { status: 201, body: show(context, issue) }
}

/** Returns the open pull request of a branch for a target; a branch that is gone has closed its own. */
async function openOne(
  { state, repository }: Context,
  from: string,
  branch: string,
  base: string,
  but: PullIssue | null = null,
) {
  for (const issue of repository.issues.filter(hasPull)) {
    // One that is reopened and retargeted at once may have a target that is gone.
    if (issue === but) continue
    await look(state, repository, issue)
    const { head } = issue.pull
    if (issue.state === 'open' && head.repository === from && head.branch === branch && issue.pull.base === base) {
      return issue
    }
  }
  return null
}

async function editPull(context: Context) {
  const { state, repository, request, login, params } = context
  const issue = findPull(context, params[0] ?? '')
  if (!issue) return notFound()
  if (issue.user !== login && !mayWrite(repository, login)) return { status: 403 }
  await look(state, repository, issue)
  if (text(request, 'title') !== '') issue.title = text(request, 'title')
  const body = field(request, 'body')
  if (typeof body === 'string') issue.body = body
  const wanted = text(request, 'state')
  if (wanted !== '') {
    if (issue.pull.merged !== null) {
      return failure(412, 'cannot change state of this pull request, it was already merged')
    }
    issue.state = wanted === 'closed' ? 'closed' : 'open'
  }
  const refused = await retarget(context, issue, text(request, 'base'))
  if (refused) return refused
  issue.updated_at = nextTime(state)
  return { status: 201, body: show(context, issue) }
}

async function retarget(context: Context, issue: PullIssue, base: string) {
  const { state, repository } = context
  const { pull } = issue
  if (base === '' || base === pull.base || pull.merged !== null) return null
  const commit = await state.git.head(repository.fullName, base)
  if (commit === null) return failure(404, `new base '${base}' not exist`)
  if (issue.state === 'closed') return failure(422, `issue is closed [id: 1, repo_id: 1, index: ${issue.number}]`)
  if (await openOne(context, pull.head.repository, pull.head.branch, base, issue)) {
    return failure(409, 'pull request already exists for these targets')
  }
  pull.base = base
  await look(state, repository, issue)
  return null
}

const methods = {
  merge: ['merge', 'merge'],
  squash: ['squash', 'squash'],
  rebase: ['rebase', 'rebase'],
  'rebase-merge': ['rebaseMerge', 'merge'],
  'fast-forward-only': ['fastForward', 'rebase'],
} as const

async function mergePull(context: Context) {
  const { state, repository, request, login, params } = context
  if (repository.archived) return archived(context)
  const issue = findPull(context, params[0] ?? '')
  if (!issue) return notFound()
  await look(state, repository, issue)
  const { pull } = issue
  if (pull.merged !== null) return failure(405, '')
  if (issue.state === 'closed') return notFound()
  if (!mayWrite(repository, login)) return failure(405, 'User not allowed to merge PR')
  const blocked = blockedBy(state, issue)
  if (blocked !== null) return failure(405, blocked)
  const waits = protectedBy(repository, issue)
  const whenReady = field(request, 'merge_when_checks_succeed') === true
  if (waits !== null && !whenReady && field(request, 'force_merge') !== true) return failure(405, waits)
  const style = text(request, 'Do')
  const method = style in methods ? methods[style as keyof typeof methods] : null
  if (whenReady) {
    if (pull.scheduled !== null) {
      return failure(409, `pull request is already scheduled to auto merge when checks succeed [pull_id: 1]`)
    }
    if (waits !== null || !allPassed(context, pull)) {
      pull.scheduled = style
      issue.timeline.push({ type: 'pull_scheduled_merge' })
      issue.updated_at = nextTime(context.state)
      return { status: 201 }
    }
  }
  if (method === null || !repository.methods[method[0]]) {
    return failure(405, `${style} is not allowed an allowed merge style for this repository`)
  }
  const head = text(request, 'head_commit_id')
  if (head !== '' && head !== pull.commit) return failure(409, 'head out of date')
  const merge = mergeOf(repository, issue, method[1])
  // The real one answers with its error's own fields, which have no message.
  if (await state.git.conflicts(merge)) return { status: 409, body: { Style: style, StdOut: '', StdErr: '', Err: {} } }
  await complete(context, issue, method[1])
  return { status: 200 }
}

/** A scheduled merge is done at once where every status has succeeded. */
function allPassed({ repository }: Context, pull: Pull): boolean {
  const newest = new Map(
    repository.statuses.filter(({ commit }) => commit === pull.commit).map((each) => [each.context, each.status]),
  )
  return newest.size > 0 && [...newest.values()].every((status) => status === 'success')
}

export async function complete(
  { state, repository }: Pick<Context, 'state' | 'repository'>,
  issue: PullIssue,
  method: 'merge' | 'squash' | 'rebase',
) {
  issue.pull.merged = await state.git.merge(mergeOf(repository, issue, method))
  issue.pull.scheduled = null
  issue.state = 'closed'
  issue.updated_at = nextTime(state)
}

function cancelMerge(context: Context) {
  const issue = findPull(context, context.params[0] ?? '')
  if (!issue || issue.pull.scheduled === null) return notFound()
  issue.pull.scheduled = null
  issue.timeline.push({ type: 'pull_cancel_scheduled_merge' })
  issue.updated_at = nextTime(context.state)
  return { status: 204 }
}
