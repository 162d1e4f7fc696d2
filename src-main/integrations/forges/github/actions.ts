import { cleanLog } from '../clean-log.ts'
import { part, type Github } from './github.ts'

const maxBytes = 65_536

/** Returns the end of a job's log; it lies at another host, which is told nothing. */
export async function readLog(github: Github, job: string): Promise<string | null> {
  const text = await github.api.tail(github.url(`/actions/jobs/${part(job)}/logs`), maxBytes)
  return text === null ? null : cleanLog(text)
}

/** Runs a job and its dependents once more. */
export async function rerunJob(github: Github, job: string): Promise<void> {
  await github.api.send({ method: 'POST', url: github.url(`/actions/jobs/${part(job)}/rerun`) })
}
