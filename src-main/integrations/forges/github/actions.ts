import { withoutTerminalCodes } from '../../../platform/text/terminal-codes.ts'
import { part, type Github } from './github.ts'

const maxBytes = 65_536

/** Each line begins with its time, which would make two equal failures look different. */
const times = /^\uFEFF?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z /gm

/** Returns the end of a job's log; it lies at another host, which is told nothing. */
export async function readLog(github: Github, job: string): Promise<string | null> {
  const text = await github.api.tail(github.url(`/actions/jobs/${part(job)}/logs`), maxBytes)
  return text === null ? null : withoutTerminalCodes(text.replaceAll(times, ''))
}

/** Runs a job and those that need it once more. */
export async function rerunJob(github: Github, job: string): Promise<void> {
  await github.api.send({ method: 'POST', url: github.url(`/actions/jobs/${part(job)}/rerun`) })
}
