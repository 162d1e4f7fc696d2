import { failure, notFound, page, type Context, type Route } from './context.ts'
import { showJob, showJobStatus, showStatus } from './show.ts'
import { nextId, userOf } from './state.ts'

export const ciRoutes: readonly Route[] = [
  { method: 'GET', path: /^\/repository\/commits\/([0-9a-f]+)\/statuses$/, access: 20, answer: listStatuses },
  { method: 'GET', path: /^\/repository\/branches\/([^/]+)$/, access: 20, answer: readBranch },
  { method: 'GET', path: /^\/pipelines$/, access: 20, answer: listPipelines },
  { method: 'GET', path: /^\/pipelines\/(\d+)\/jobs$/, access: 20, answer: listJobs },
  { method: 'GET', path: /^\/jobs\/(\d+)\/trace$/, access: 20, answer: readTrace },
  { method: 'POST', path: /^\/jobs\/(\d+)\/retry$/, access: 30, answer: retry },
  { method: 'GET', path: /^\/members\/all\/(\d+)$/, access: 10, answer: readMember },
]

/** Jobs and what others reported, of all pipelines of the commit, without those that were tried again. */
function listStatuses(context: Context) {
  const { project, url, params } = context
  const [sha = ''] = params
  const ids = new Set(project.pipelines.filter((pipeline) => pipeline.sha === sha).map(({ id }) => id))
  const jobs = project.jobs.filter(({ pipeline, isRetried }) => ids.has(pipeline) && !isRetried)
  return page(context, [
    ...jobs.map((job) => showJobStatus(url, project, sha, job)),
    ...project.statuses.filter((status) => status.sha === sha).map(showStatus),
  ])
}

function listPipelines(context: Context) {
  return page(
    context,
    context.project.pipelines.map(({ id, sha }) => ({ id, sha })),
  )
}

function listJobs(context: Context) {
  const { project, url, params } = context
  const jobs = project.jobs.filter(({ pipeline, isRetried }) => pipeline === Number(params[0]) && !isRetried)
  return page(
    context,
    jobs.map((job) => showJob(url, project, job)),
  )
}

async function readBranch({ state, project, params: [name = ''] }: Context) {
  const id = await state.git.head(project.path, name)
  return id === null ? notFound('Branch Not Found') : { status: 200, body: { name, commit: { id } } }
}

const findJob = ({ project, params }: Context) => project.jobs.find(({ id }) => id === Number(params[0]))

function readTrace(context: Context) {
  const job = findJob(context)
  return job ? { status: 200, body: job.log ?? '' } : notFound()
}

/** Makes a new job of the same name. */
function retry(context: Context) {
  const { state, project, url } = context
  const job = findJob(context)
  if (!job) return notFound()
  if (job.isRetried || job.status === 'running') return failure(403, '403 Forbidden - Job is not retryable')
  job.isRetried = true
  const again = { ...job, id: nextId(state), status: 'pending', isRetried: false, log: null }
  project.jobs.push(again)
  return { status: 201, body: showJob(url, project, again) }
}

function readMember({ state, project, params }: Context) {
  const user = state.users.find(({ id }) => id === Number(params[0]))
  const owner = userOf(state, project.path.split('/')[0] ?? '')
  const access_level = user && (user.id === owner.id ? 50 : project.members.get(user.username))
  return access_level === undefined ? notFound() : { status: 200, body: { id: user?.id, access_level } }
}
