import { ForgeError } from '../../../ports/forges.ts'
import { cleanLog } from '../clean-log.ts'
import type { GitlabProject } from './gitlab-api.ts'
import { whileNotArchived } from './project.ts'

const logBytes = 65_536

/** `job` is what `toCheck` made: the project, which may be a fork, and the job. */
function jobUrl({ root }: GitlabProject, job: string): string {
  const [, place, id] = /^(\d+) (\d+)$/.exec(job) ?? []
  if (place === undefined || id === undefined) throw new ForgeError('not_found', 'GitLab has no such job.')
  return `${root}/projects/${place}/jobs/${id}`
}

export async function readLog(project: GitlabProject, job: string): Promise<string | null> {
  const text = await project.api.tail(`${jobUrl(project, job)}/trace`, logBytes)
  return text === null ? null : cleanLog(text)
}

export async function rerunJob(project: GitlabProject, job: string): Promise<void> {
  const url = `${jobUrl(project, job)}/retry`
  await whileNotArchived(project, () => project.api.send({ method: 'POST', url }))
}
