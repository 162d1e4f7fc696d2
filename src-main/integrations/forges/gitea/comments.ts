import type { ForgeComment } from '../../../ports/forges.ts'
import { parseAnswer, parseItems } from '../parse-answer.ts'
import { label, listUrl, type GiteaRepository } from './gitea-api.ts'
import { GiteaComment, GiteaIssue } from './shapes.ts'
import { readWriters, type Writers } from './writers.ts'
import type { z } from 'zod'

/** Returns the comments that are in no thread, of a pull request or an issue, oldest first. */
export async function readComments(repository: GiteaRepository, number: number): Promise<readonly ForgeComment[]> {
  const items = parseItems(GiteaComment, await repository.api.list(listUrl(repository, `/issues/${number}/comments`)))
  if (items.length === 0) return []
  const writers = await readWriters(repository)
  return items.map((comment) => toComment(comment, writers)).sort((a, b) => Number(a.id) - Number(b.id))
}

export async function writeComment(repository: GiteaRepository, number: number, body: string): Promise<ForgeComment> {
  const { api, url } = repository
  const { json } = await api.send({ method: 'POST', url: `${url}/issues/${number}/comments`, body: { body } })
  return toComment(parseAnswer(GiteaComment, json, label), await readWriters(repository))
}

export function toComment(comment: z.infer<typeof GiteaComment>, writers: Writers): ForgeComment {
  const author = comment.user?.login ?? ''
  return {
    id: String(comment.id),
    author,
    is_member: writers === null ? null : writers.has(author.toLowerCase()),
    body: comment.body ?? '',
    created_at: comment.created_at,
  }
}

export async function readIssue({ api, url }: GiteaRepository, number: number) {
  const { json } = await api.send({ url: `${url}/issues/${number}` })
  const { state, labels } = parseAnswer(GiteaIssue, json, label)
  return { state, labels: (labels ?? []).map(({ name }) => name) }
}

export async function closeIssue({ api, url }: GiteaRepository, number: number): Promise<void> {
  await api.send({ method: 'PATCH', url: `${url}/issues/${number}`, body: { state: 'closed' } })
}
