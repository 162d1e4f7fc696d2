import type { ForgeCheck, ForgeChecks, Pull } from '../../../ports/forges.ts'
import { parseAnswer, parseItems } from '../parse-answer.ts'
import { unlessRefused } from '../unless-refused.ts'
import { label, listUrl, type GitlabProject } from './gitlab-api.ts'
import { readSettings } from './project.ts'
import { recallPull } from './pulls.ts'
import { GitlabBranch, GitlabStatus, type GitlabPipeline } from './shapes.ts'

/**
 * Returns the checks of a pull request: its pipeline's jobs, and what other programs say of its head. Both are statuses
 * of the commit, but the jobs of a pipeline that tests the merge are those of another.
 */
export async function readChecks(
  project: GitlabProject,
  { number, head }: Pick<Pull, 'number' | 'head'>,
): Promise<ForgeChecks> {
  const pull = await recallPull(project, number)
  const pipeline = pull.sha === head.commit ? (pull.head_pipeline ?? null) : null
  const { only_allow_merge_if_pipeline_succeeds: isRequired, id } = await readSettings(project)
  const place = `${project.root}/projects/${pipeline?.project_id ?? id}`
  const statuses = await readStatuses(project, place, head.commit)
  const jobs = pipeline !== null && pipeline.sha !== head.commit ? await readJobs(project, place, pipeline.id) : []
  if (statuses === null || jobs === null) return unseen(pipeline, isRequired === true)
  const checks = newest([...statuses, ...jobs], pipeline).map((status) =>
    toCheck(status, {
      place: pipeline?.project_id ?? id,
      required: isRequired === true ? isOf(status, pipeline) : null,
    }),
  )
  if (isRequired === true && pipeline === null) return { seen: 'all', checks: [...checks, wholePipeline(null, true)] }
  return { seen: 'all', checks }
}

/** Returns the checks of a commit, or of a branch's last one. */
export async function readChecksOf(project: GitlabProject, ref: string): Promise<readonly ForgeCheck[]> {
  const { id } = await readSettings(project)
  const commit = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(ref) ? ref : await commitOf(project, ref)
  const items = await project.api.list(statusesUrl(`${project.root}/projects/${id}`, commit))
  return newest(parseItems(GitlabStatus, items), null).map((status) => toCheck(status, { place: id, required: null }))
}

/** Statuses are those of a commit's full name only. */
async function commitOf({ api, url }: GitlabProject, branch: string): Promise<string> {
  const { json } = await api.send({ url: `${url}/repository/branches/${encodeURIComponent(branch)}` })
  return parseAnswer(GitlabBranch, json, label).commit.id
}

const statusesUrl = (place: string, commit: string) => listUrl(`${place}/repository/commits/${commit}/statuses`)

async function readStatuses({ api }: GitlabProject, place: string, commit: string) {
  const items = await unlessRefused(['forbidden', 'not_found'], () => api.list(statusesUrl(place, commit)))
  return items && parseItems(GitlabStatus, items)
}

async function readJobs({ api }: GitlabProject, place: string, pipeline: number) {
  const url = listUrl(`${place}/pipelines/${pipeline}/jobs`)
  const items = await unlessRefused(['forbidden', 'not_found'], () => api.list(url))
  return items && parseItems(GitlabStatus, items).map((job) => ({ ...job, pipeline_id: pipeline }))
}

/** What is known where the token can't read jobs: the whole pipeline, if that. */
function unseen(pipeline: GitlabPipeline | null, isRequired: boolean): ForgeChecks {
  if (pipeline === null) return { seen: 'none', checks: [] }
  return { seen: 'some', checks: [wholePipeline(pipeline, isRequired)] }
}

const wholePipeline = (pipeline: GitlabPipeline | null, isRequired: boolean): ForgeCheck => ({
  name: 'Pipeline',
  state: pipeline === null ? 'queued' : stateOf(pipeline.status, false),
  required: isRequired ? true : null,
  url: null,
  job: null,
})

/** Without a pipeline's ID, as before 17, a status counts as one of the pull request's own. */
const isOf = ({ pipeline_id }: GitlabStatus, pipeline: GitlabPipeline | null) =>
  pipeline === null || pipeline_id === null || pipeline_id === undefined || pipeline_id === pipeline.id

/** Returns the newest status of each name; of the pull request's own pipeline before others. */
function newest(statuses: readonly GitlabStatus[], pipeline: GitlabPipeline | null): readonly GitlabStatus[] {
  const found = new Map<string, GitlabStatus>()
  for (const status of [...statuses].sort((a, b) => a.id - b.id)) {
    const former = found.get(status.name)
    if (former === undefined || isOf(status, pipeline) || !isOf(former, pipeline)) found.set(status.name, status)
  }
  return [...found.values()].sort((a, b) => a.id - b.id)
}

function toCheck(
  status: GitlabStatus,
  { place, required }: { readonly place: number; readonly required: boolean | null },
): ForgeCheck {
  const mayFail = status.allow_failure === true
  const url = status.web_url ?? status.target_url ?? null
  // Other programs name their own page.
  const isJob = url === null || /\/(?:jobs|builds)\/\d+$/.test(url)
  return {
    name: status.name,
    state: stateOf(status.status, mayFail),
    required: mayFail ? false : required,
    url: url !== null && /^https?:/.test(url) ? url : null,
    job: isJob ? `${place} ${status.id}` : null,
  }
}

function stateOf(status: string, mayFail: boolean): ForgeCheck['state'] {
  switch (status) {
    case 'success':
      return 'passed'
    case 'failed':
      return 'failed'
    case 'running':
      return 'running'
    case 'skipped':
      return 'skipped'
    case 'canceled':
    case 'canceling':
      return 'cancelled'
    case 'manual':
      // Nobody needs to start it, or the pipeline waits for that.
      return mayFail ? 'skipped' : 'queued'
    default:
      return 'queued'
  }
}
