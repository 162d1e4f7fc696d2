import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Job } from './job.ts'

/** Returns the token of a run of another task, which goes on until the test ends. */
export async function tokenOfRun(job: Job): Promise<string> {
  const place = join(job.repository.beside, 'token')
  const agent = await job.agent(`printenv SVC_API_TOKEN > ${place}; sleep 600`, 'Other')
  await job.claim(await job.task({ title: 'Another' }), agent)
  const read = () => readFile(place, 'utf8').catch(() => '')
  return (await job.running.eventually(read, (text) => text.endsWith('\n'))).trim()
}
