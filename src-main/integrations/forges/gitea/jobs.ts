import { ForgeError } from '../../../ports/forges.ts'
import { cleanLog } from '../clean-log.ts'
import { parseAnswer } from '../parse-answer.ts'
import { label, type GiteaRepository } from './gitea-api.ts'
import { GiteaJobs, GiteaRuns } from './shapes.ts'
import { readFeatures } from './version.ts'

const logBytes = 65_536

/** Returns the end of a job's log. `job` is what `readChecksOf` made: the commit and the address of the job's page. */
export async function readLog(repository: GiteaRepository, job: string): Promise<string | null> {
  const found = await findJob(repository, job)
  if (found === null) return null
  const text = await repository.api.tail(`${repository.url}/actions/jobs/${found.id}/logs`, logBytes)
  return text === null ? null : cleanLog(text)
}

export async function rerunJob(repository: GiteaRepository, job: string): Promise<void> {
  if (!(await readFeatures(repository)).rerun) {
    throw new ForgeError('not_supported', "This version of the forge can't run a job again. Run it there.")
  }
  const found = await findJob(repository, job)
  if (found === null) throw new ForgeError('not_found', 'The forge no longer has the job.')
  const url = `${repository.url}/actions/runs/${found.run_id}/jobs/${found.id}/rerun`
  await repository.api.send({ method: 'POST', url })
}

/** Statuses name the page of a job, not its ID. */
async function findJob({ api, url, root }: GiteaRepository, job: string) {
  const [commit = '', page = ''] = job.split(' ')
  const path = URL.parse(page, root)?.pathname
  const { json } = await api.send({ url: `${url}/actions/runs?head_sha=${commit}&limit=50`, accept: [404] })
  for (const run of parseAnswer(GiteaRuns, json, label).workflow_runs ?? []) {
    const answer = await api.send({ url: `${url}/actions/runs/${run.id}/jobs?limit=50`, accept: [404] })
    const jobs = parseAnswer(GiteaJobs, answer.json, label).jobs ?? []
    const found = jobs.find(({ html_url }) => URL.parse(html_url ?? '', root)?.pathname === path)
    if (found) return found
  }
  return null
}
