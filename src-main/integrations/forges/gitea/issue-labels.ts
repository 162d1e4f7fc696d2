import { parseAnswer, parseItems } from '../parse-answer.ts'
import { label as forge, listUrl, type GiteaRepository } from './gitea-api.ts'
import { GiteaLabel } from './shapes.ts'

/** The color of a label that is made here. */
const color = '#ededed'

/** Returns the IDs of labels by name, and makes missing ones. */
export async function labelIds(repository: GiteaRepository, names: readonly string[]): Promise<readonly number[]> {
  const known = parseItems(GiteaLabel, await repository.api.list(listUrl(repository, '/labels')))
  const ids: number[] = []
  for (const name of names) {
    const same = known.find((label) => label.name.toLowerCase() === name.toLowerCase())
    ids.push(same?.id ?? (await createLabel(repository, name)))
  }
  return ids
}

async function createLabel({ api, url }: GiteaRepository, name: string): Promise<number> {
  const { json } = await api.send({ method: 'POST', url: `${url}/labels`, body: { name, color } })
  return parseAnswer(GiteaLabel, json, forge).id
}

export async function labelIssue(
  repository: GiteaRepository,
  number: number,
  name: string,
  isOn: boolean,
): Promise<void> {
  const { api, url } = repository
  const labels = `${url}/issues/${number}/labels`
  const { json } = await api.send({ url: labels })
  const present = parseItems(GiteaLabel, Array.isArray(json) ? json : [])
  const same = present.find((label) => label.name.toLowerCase() === name.toLowerCase())
  if (isOn && !same) {
    await api.send({ method: 'POST', url: labels, body: { labels: await labelIds(repository, [name]) } })
  } else if (!isOn && same) {
    await api.send({ method: 'DELETE', url: `${labels}/${same.id}`, accept: [404] })
  }
}
