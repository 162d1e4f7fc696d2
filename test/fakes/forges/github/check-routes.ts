import type { ForgeReply } from '../forge-server.ts'
import { failure, need, notFound, ok, page, type Exchange, type Route } from './exchange.ts'
import { jobsOf, renderBranch, renderCheckRun, renderJob, renderRepository, renderRun } from './render.ts'
import { latestRuns } from './rules.ts'
import type { CheckRun } from './state.ts'

const metadata = [need('metadata', 'read')]
const actions = [need('actions', 'read')]

export const checkRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '',
    needs: metadata,
    answer: ({ world, repository, token }) => ok(renderRepository(world, repository, token.login)),
  },
  { method: 'GET', path: '/branches/:branch', needs: [need('contents', 'read')], answer: getBranch },
  { method: 'GET', path: '/git/ref/heads/*branch', needs: [need('contents', 'read')], answer: getRef },
  { method: 'GET', path: '/rules/branches/:branch', needs: metadata, answer: listRules },
  // No permission of a fine-grained token gives these.
  { method: 'GET', path: '/commits/:ref/check-runs', needs: [need('checks', 'read')], answer: listCheckRuns },
  { method: 'GET', path: '/commits/:ref/status', needs: [need('statuses', 'read')], answer: getStatus },
  { method: 'GET', path: '/actions/runs', needs: actions, answer: listRuns },
  { method: 'GET', path: '/actions/runs/:run/jobs', needs: actions, answer: listJobs },
  { method: 'GET', path: '/actions/jobs/:job/logs', needs: actions, answer: getLogs },
  { method: 'POST', path: '/actions/jobs/:job/rerun', needs: [need('actions', 'write')], answer: rerun },
]

async function getBranch({ world, repository, params }: Exchange): Promise<ForgeReply> {
  const branch = params['branch'] ?? ''
  const commit = await world.git.head(repository.git_name, branch)
  return commit === null ? failure(404, 'Branch not found') : ok(renderBranch(repository, branch, commit))
}

async function getRef({ world, repository, params }: Exchange): Promise<ForgeReply> {
  const branch = params['branch'] ?? ''
  const commit = await world.git.head(repository.git_name, branch)
  return commit === null ? notFound() : ok({ ref: `refs/heads/${branch}`, object: { type: 'commit', sha: commit } })
}

function listRules(exchange: Exchange): ForgeReply {
  const protection = exchange.repository.protection.get(exchange.params['branch'] ?? '')
  const source = { ruleset_source_type: 'Repository', ruleset_source: exchange.repository.full_name, ruleset_id: 1 }
  return page(
    exchange,
    (protection?.rules ?? []).map((rule) => ({ ...rule, ...source })),
  )
}

async function commitOf({ world, repository, params }: Exchange): Promise<string> {
  const ref = params['ref'] ?? ''
  return (await world.git.head(repository.git_name, ref)) ?? ref
}

async function listCheckRuns(exchange: Exchange): Promise<ForgeReply> {
  const { world, repository } = exchange
  const runs = latestRuns(repository, await commitOf(exchange))
  return page(
    exchange,
    runs.toReversed().map((run) => renderCheckRun(world, repository, run)),
    'check_runs',
  )
}

async function getStatus(exchange: Exchange): Promise<ForgeReply> {
  const commit = await commitOf(exchange)
  const all = exchange.repository.statuses.filter((status) => status.commit === commit)
  const latest = [...new Map(all.map((status) => [status.context, status])).values()]
  const answer = page(exchange, latest, 'statuses')
  const isRed = latest.some(({ state }) => state === 'failure' || state === 'error')
  const isGreen = latest.length > 0 && latest.every(({ state }) => state === 'success')
  const state = isRed ? 'failure' : isGreen ? 'success' : 'pending'
  return { ...answer, body: { sha: commit, state, ...(answer.body as object) } }
}

function listRuns(exchange: Exchange): ForgeReply {
  const { world, repository, request } = exchange
  const head = request.query['head_sha']
  const runs = repository.runs.filter(({ commit }) => head === undefined || commit === head).toReversed()
  return page(
    exchange,
    runs.map((run) => renderRun(world, repository, run)),
    'workflow_runs',
  )
}

function listJobs(exchange: Exchange): ForgeReply {
  const { world, repository, params } = exchange
  const run = repository.runs.find(({ id }) => id === Number(params['run']))
  if (!run) return notFound()
  return page(
    exchange,
    jobsOf(repository, run).map((job) => renderJob(world, repository, job)),
    'jobs',
  )
}

const jobOf = ({ repository, params }: Exchange): CheckRun | undefined =>
  repository.checkRuns.find(({ id, run }) => run !== null && id === Number(params['job']))

function getLogs(exchange: Exchange): ForgeReply {
  const job = jobOf(exchange)
  if (!job) return notFound()
  if (job.logExpired) return failure(410, 'Server Error')
  if (job.log === null) return notFound()
  return { status: 302, headers: { location: `${exchange.world.blobs}/logs/${job.id}?sig=signed` } }
}

function rerun(exchange: Exchange): ForgeReply {
  const { world, repository } = exchange
  const job = jobOf(exchange)
  if (!job?.run) return notFound()
  const { run } = job
  const isRunning = jobsOf(repository, run).some(({ status }) => status !== 'completed')
  if (isRunning) return failure(403, 'The workflow run containing this job is already running')
  run.attempt++
  run.updated_at = world.time()
  const id = world.nextId()
  const details_url = `${world.web}/${repository.full_name}/actions/runs/${run.id}/job/${id}`
  repository.checkRuns.push({
    ...job,
    id,
    details_url,
    status: 'queued',
    conclusion: null,
    log: null,
    logExpired: false,
  })
  return { status: 201, body: {} }
}
