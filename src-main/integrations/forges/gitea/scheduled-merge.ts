import { parseItems } from '../parse-answer.ts'
import { unlessRefused } from '../unless-refused.ts'
import type { GiteaRepository } from './gitea-api.ts'
import { GiteaTimelineItem, type GiteaPull } from './shapes.ts'

/** Stands for a merge that was scheduled from here. */
export const scheduledMark = ({ key }: GiteaRepository, number: number) => `${key} scheduled ${number}`

const pageSize = 50
const maxPages = 20

/**
 * Forgets a scheduled merge that somebody called off, or that is over. A pull request doesn't tell; the timeline does,
 * which costs requests only while a merge is scheduled from here.
 */
export async function checkScheduled(repository: GiteaRepository, pull: GiteaPull): Promise<void> {
  const mark = scheduledMark(repository, pull.number)
  if (!repository.marks.has(mark)) return
  if (pull.state === 'open' && (await isScheduled(repository, pull.number))) return
  repository.marks.delete(mark)
}

async function isScheduled(repository: GiteaRepository, number: number): Promise<boolean> {
  const types = await unlessRefused(['forbidden', 'not_found'], () => readTypes(repository, number))
  // Not told: what was done here counts.
  return types === null || types.lastIndexOf('pull_scheduled_merge') > types.lastIndexOf('pull_cancel_scheduled_merge')
}

/** Returns the types of the timeline's items, oldest first. Its pages have neither `Link` nor the right total. */
async function readTypes({ api, url }: GiteaRepository, number: number): Promise<readonly string[]> {
  const types: string[] = []
  for (let page = 1; page <= maxPages; page++) {
    const { json } = await api.send({ url: `${url}/issues/${number}/timeline?limit=${pageSize}&page=${page}` })
    if (!Array.isArray(json) || json.length === 0) break
    types.push(...parseItems(GiteaTimelineItem, json).map(({ type }) => type))
  }
  return types
}
