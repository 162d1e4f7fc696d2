import { failure, notFound, page, type Context, type Route } from './context.ts'
import { showBranch, showJob, showStatus } from './show.ts'
import { isForgejo, mayWrite, minorVersion, nextId } from './state.ts'

export const checkRoutes: readonly Route[] = [
  { method: 'GET', path: /^\/commits\/([0-9a-f]+)\/status$/, scope: 'repository', answer: combinedStatus },
  { method: 'GET', path: /^\/branches\/(.+)$/, scope: 'repository', answer: readBranch },
  { method: 'GET', path: /^\/actions\/runs$/, scope: 'repository', answer: listRuns },
  { method: 'GET', path: /^\/actions\/runs\/(\d+)\/jobs$/, scope: 'repository', answer: listJobs },
  { method: 'GET', path: /^\/actions\/jobs\/(\d+)\/logs$/, scope: 'repository', answer: readLog },
  { method: 'POST', path: /^\/actions\/runs\/(\d+)\/jobs\/(\d+)\/rerun$/, scope: 'repository', answer: rerun },
]

/** The newest status of each context, by pages. Without any it has no list at all. */
function combinedStatus(context: Context) {
  const { repository, params } = context
  const newest = new Map(
    repository.statuses.filter(({ commit }) => commit === params[0]).map((status) => [status.context, status]),
  )
  if (newest.size === 0) return { status: 200, body: { state: '', sha: '', total_count: 0, statuses: null } }
  const { body, headers } = page(context, [...newest.values()].reverse().map(showStatus), { hasLinks: false })
  return { status: 200, body: { state: 'pending', sha: params[0], statuses: body }, ...(headers && { headers }) }
}

async function readBranch({ state, repository, params }: Context) {
  const name = decodeURIComponent(params[0] ?? '')
  const commit = await state.git.head(repository.fullName, name)
  return commit === null ? notFound() : { status: 200, body: showBranch(state, repository, name, commit) }
}

const hasJobs = ({ state }: Context) => !isForgejo(state) && minorVersion(state) >= 25

function listRuns(context: Context) {
  if (!hasJobs(context)) return notFound()
  const { repository, request } = context
  const wanted = request.query['head_sha']
  const ids = new Set(
    repository.jobs.filter(({ commit }) => wanted === undefined || commit === wanted).map(({ run }) => run),
  )
  return { status: 200, body: { workflow_runs: [...ids].map((id) => ({ id, run_number: id })), total_count: ids.size } }
}

function listJobs(context: Context) {
  if (!hasJobs(context)) return notFound()
  const { repository, url, params } = context
  const jobs = repository.jobs.filter(({ run }) => run === Number(params[0]))
  return { status: 200, body: { jobs: jobs.map((job) => showJob(url, repository, job)), total_count: jobs.length } }
}

function readLog(context: Context) {
  const job = context.repository.jobs.find(({ id }) => id === Number(context.params[0]))
  if (!hasJobs(context) || job?.log === null || job === undefined) return notFound()
  return { status: 200, body: job.log }
}

function rerun(context: Context) {
  const { repository, login, params, state } = context
  const job = repository.jobs.find(({ id, run }) => run === Number(params[0]) && id === Number(params[1]))
  if (isForgejo(state) || minorVersion(state) < 26 || !job) return notFound()
  if (!mayWrite(repository, login)) return failure(403, 'user should have a permission to write to this repo')
  job.attempts += 1
  const before = repository.statuses.findLast(({ target_url }) => target_url.endsWith(`/jobs/${job.id}`))
  if (before)
    repository.statuses.push({ ...before, id: nextId(state), status: 'pending', description: 'Waiting to run' })
  return { status: 201, body: showJob(context.url, repository, job) }
}
