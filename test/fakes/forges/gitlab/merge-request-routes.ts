import { runCommands } from './commands.ts'
import {
  failure,
  field,
  findMergeRequest,
  mayMerge,
  notFound,
  page,
  text,
  type Context,
  type Route,
} from './context.ts'
import { complete, detailedStatus, headPipeline, look, pipelineStatus, testConflicts } from './mergeability.ts'
import { showMergeRequest, showUser } from './show.ts'
import { nextTime, projectById, userOf, type MergeRequest, type Project } from './state.ts'

export const mergeRequestRoutes: readonly Route[] = [
  { method: 'GET', path: /^\/merge_requests$/, access: 10, answer: list },
  { method: 'POST', path: /^\/merge_requests$/, access: 30, answer: open },
  { method: 'GET', path: /^\/merge_requests\/(\d+)$/, access: 10, answer: read },
  { method: 'PUT', path: /^\/merge_requests\/(\d+)$/, access: 30, answer: edit },
  { method: 'PUT', path: /^\/merge_requests\/(\d+)\/merge$/, access: 10, answer: merge },
  { method: 'GET', path: /^\/merge_requests\/(\d+)\/approvals$/, access: 10, answer: readApprovals },
  { method: 'GET', path: /^\/merge_requests\/(\d+)\/reviewers$/, access: 10, answer: readReviewers },
  { method: 'GET', path: /^\/merge_trains\/merge_requests\/(\d+)$/, access: 20, answer: readCar },
  { method: 'POST', path: /^\/merge_trains\/merge_requests\/(\d+)$/, access: 30, answer: joinTrain },
]

async function list(context: Context) {
  const { state, project, request } = context
  const branch = request.query['source_branch']
  const into = request.query['target_branch']
  const wanted = request.query['state'] ?? 'all'
  const found = project.mergeRequests
    .filter((pull) => branch === undefined || pull.source.branch === branch)
    .filter((pull) => into === undefined || pull.target === into)
    .filter((pull) => wanted === 'all' || pull.state === wanted)
    .reverse()
  for (const pull of found) await look(state, project, pull)
  return page(context, await Promise.all(found.map(async (pull) => showMergeRequest(context, pull))))
}

async function read(context: Context) {
  const pull = findMergeRequest(context, context.params[0] ?? '')
  if (!pull) return notFound()
  await look(context.state, context.project, pull)
  const body = await showMergeRequest(context, pull)
  await testConflicts(context.state, context.project, pull)
  return { status: 200, body }
}

/** Asked of the source's project. */
async function open(context: Context) {
  const { state, project: source, request, username } = context
  const target = projectById(state, Number(field(request, 'target_project_id') ?? source.id))
  const branch = text(request, 'source_branch')
  const into = text(request, 'target_branch')
  const sha = await state.git.head(source.path, branch)
  const base = await state.git.head(target.path, into)
  if (text(request, 'title').length > 255) return failure(400, { title: ['is too long (maximum is 255 characters)'] })
  if (sha === null || base === null) {
    return failure(400, { base: [sha === null ? 'Source branch does not exist' : 'Target branch does not exist'] })
  }
  const same = target.mergeRequests.find(
    (pull) =>
      pull.state === 'opened' &&
      pull.source.project === source.id &&
      pull.source.branch === branch &&
      pull.target === into,
  )
  if (same) return failure(409, [`Another open merge request already exists for this source branch: !${same.iid}`])
  const pull = create(context, target, { branch, sha, into, base })
  pull.description = runCommands(state, pull, text(request, 'description'))
  for (const label of text(request, 'labels').split(',')) if (label !== '') pull.labels.add(label.trim())
  const reviewers = field(request, 'reviewer_ids')
  for (const user of state.users) {
    if (Array.isArray(reviewers) && reviewers.includes(user.id)) pull.reviewers.set(user.username, 'unreviewed')
  }
  target.mergeRequests.push(pull)
  return { status: 201, body: await showMergeRequest({ ...context, project: target, username }, pull) }
}

function create(
  { state, project, request, username }: Context,
  target: Project,
  at: { readonly branch: string; readonly sha: string; readonly into: string; readonly base: string },
): MergeRequest {
  return {
    iid: target.mergeRequests.length + 1,
    user: username,
    title: text(request, 'title'),
    description: '',
    state: 'opened',
    labels: new Set(),
    discussions: [],
    updated_at: nextTime(state),
    source: { project: project.id, branch: at.branch },
    target: at.into,
    sha: at.sha,
    base: at.base,
    status: 'preparing',
    testReads: 0,
    squash: ['always', 'default_on'].includes(target.squashOption),
    mergeCommit: null,
    squashCommit: null,
    autoMerge: false,
    car: null,
    approvals: new Map(),
    reviewers: new Map(),
  }
}

async function edit(context: Context) {
  const { state, project, request, params } = context
  const pull = findMergeRequest(context, params[0] ?? '')
  if (!pull) return notFound()
  const { title, description, target_branch, state_event, squash } = request.body as Readonly<Record<string, unknown>>
  if (typeof title === 'string') {
    if (title.length > 255) return failure(400, { title: ['is too long (maximum is 255 characters)'] })
    pull.title = title
  }
  if (typeof description === 'string') pull.description = runCommands(state, pull, description)
  if (typeof squash === 'boolean') pull.squash = squash
  if (typeof target_branch === 'string') {
    if ((await state.git.head(project.path, target_branch)) === null) {
      return failure(400, { base: ['Target branch does not exist'] })
    }
    pull.target = target_branch
  }
  if (state_event === 'close') {
    if (pull.state !== 'opened') return failure(400, { state: ['cannot transition via "close"'] })
    pull.state = 'closed'
  }
  if (state_event === 'reopen') {
    if (pull.state !== 'closed') return failure(400, { state: ['cannot transition via "reopen"'] })
    pull.state = 'opened'
  }
  pull.updated_at = nextTime(state)
  await look(state, project, pull)
  return { status: 200, body: await showMergeRequest(context, pull) }
}

async function merge(context: Context) {
  const { state, project, request, params } = context
  const pull = findMergeRequest(context, params[0] ?? '')
  if (!pull) return notFound()
  await look(state, project, pull)
  if (!mayMerge(context)) return failure(401, '401 Unauthorized')
  const wantsAuto = field(request, 'auto_merge') === true || field(request, 'merge_when_pipeline_succeeds') === true
  const sha = text(request, 'sha')
  if (sha !== '' && sha !== pull.sha) {
    return failure(409, `SHA does not match HEAD of source branch: ${pull.sha}`)
  }
  if (field(request, 'squash') === true) pull.squash = true
  const status = await detailedStatus(state, project, pull)
  if (wantsAuto) {
    const pipeline = headPipeline(state, pull)
    const isRunning = pipeline !== null && pipelineStatus(state, pipeline) === 'running'
    const waits = ['not_approved', 'discussions_not_resolved', 'ci_still_running', 'requested_changes'].includes(status)
    if (isRunning || waits) {
      pull.autoMerge = true
      return { status: 200, body: await showMergeRequest(context, pull) }
    }
  }
  if (status !== 'mergeable') return failure(405, '405 Method Not Allowed')
  if (project.squashOption === 'never' && pull.squash) return failure(422, 'Branch cannot be merged')
  await complete(state, project, pull, pull.squash)
  return { status: 200, body: await showMergeRequest(context, pull) }
}

function readApprovals(context: Context) {
  const { state } = context
  const pull = findMergeRequest(context, context.params[0] ?? '')
  if (!pull) return notFound()
  const approved_by = [...pull.approvals].map(([user, approved_at]) => ({ user: showUser(state, user), approved_at }))
  return { status: 200, body: { user_has_approved: false, approved: approved_by.length > 0, approved_by } }
}

function readReviewers(context: Context) {
  const { state } = context
  const pull = findMergeRequest(context, context.params[0] ?? '')
  if (!pull) return notFound()
  const reviewers = [...pull.reviewers].map(([user, review]) => ({
    user: { ...showUser(state, user), id: userOf(state, user).id },
    state: review,
    created_at: '2026-01-01T00:00:00.000Z',
  }))
  return { status: 200, body: reviewers }
}

const noTrains = () => failure(403, '403 Forbidden')

function readCar(context: Context) {
  const pull = findMergeRequest(context, context.params[0] ?? '')
  if (context.project.trains !== true) return noTrains()
  if (!pull || pull.car === null) return notFound()
  return { status: 200, body: { id: 1, merge_request: { iid: pull.iid }, status: pull.car } }
}

async function joinTrain(context: Context) {
  const { state, project, request, params } = context
  const pull = findMergeRequest(context, params[0] ?? '')
  if (project.trains !== true) return noTrains()
  if (!pull) return notFound()
  await look(state, project, pull)
  const sha = text(request, 'sha')
  if (sha !== '' && sha !== pull.sha) return failure(409, 'SHA does not match HEAD of source branch')
  if (pull.source.project !== project.id) return failure(400, 'Failed to merge')
  pull.autoMerge = true
  pull.car = 'idle'
  return { status: 201, body: [{ id: 1, merge_request: { iid: pull.iid }, status: pull.car }] }
}
