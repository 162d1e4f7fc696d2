import { parseItems } from '../parse-answer.ts'
import { unlessRefused } from '../unless-refused.ts'
import type { GiteaRepository } from './gitea-api.ts'
import { GiteaTimelineItem, type GiteaPull } from './shapes.ts'

/** Names a scheduled merge, whose mark is the head that it is for. */
export const scheduledMark = ({ key }: GiteaRepository, number: number) => `${key} scheduled ${number}`

/** What is scheduled or called off changes the pull request; read again so seldom in case a second had both. */
const keptMs = 1_200_000
const pageSize = 50
const maxPages = 20

/**
 * Keeps up with a scheduled merge, which a pull request doesn't tell: its timeline does, which is read while a merge is
 * scheduled, and once for what an earlier process left. A merge that was scheduled for another head is called off: the
 * forge would merge whatever is pushed.
 */
export async function checkScheduled(repository: GiteaRepository, pull: GiteaPull): Promise<void> {
  const { api, url, marks, recall } = repository
  const mark = scheduledMark(repository, pull.number)
  if (pull.state !== 'open') {
    marks.delete(mark)
    return
  }
  const head = marks.get(mark) ?? null
  const looked = `${mark} looked`
  if (head === null && marks.has(looked)) return
  marks.set(looked, '')
  if (head !== null && head !== '' && head !== pull.head.sha) {
    await api.send({ method: 'DELETE', url: `${url}/pulls/${pull.number}/merge`, accept: [404] })
    marks.delete(mark)
    return
  }
  const isScheduled = await recall(
    `${mark} ${head ?? ''} ${pull.updated_at}`,
    () => keptMs,
    () => readScheduled(repository, pull.number),
  )
  if (isScheduled === false) marks.delete(mark)
  // For which head isn't told.
  if (isScheduled === true && head === null) marks.set(mark, '')
}

/** null: not told. */
async function readScheduled(repository: GiteaRepository, number: number): Promise<boolean | null> {
  const types = await unlessRefused(['forbidden', 'not_found'], () => readTypes(repository, number))
  return types && types.lastIndexOf('pull_scheduled_merge') > types.lastIndexOf('pull_cancel_scheduled_merge')
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
