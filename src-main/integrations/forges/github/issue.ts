import { z } from 'zod'
import { ForgeError } from '../../../ports/forges.ts'
import type { ForgeApi } from '../forge-requests.ts'
import { part, type Github } from './github.ts'

const Label = z.union([z.string(), z.looseObject({ name: z.string().nullish() }).transform(({ name }) => name ?? '')])

const IssueFields = z.looseObject({ state: z.enum(['open', 'closed']), labels: z.array(Label).catch([]) })

const issuePath = (number: number) => `/issues/${part(number)}`

export async function readIssue(github: Github, number: number) {
  const { state, labels } = await github.get(issuePath(number), IssueFields)
  return { state, labels: labels.filter((name) => name !== '') }
}

export async function closeIssue(github: Github, number: number): Promise<void> {
  await github.send('PATCH', issuePath(number), { state: 'closed', state_reason: 'completed' }, z.unknown())
}

/** GitHub makes a label that is added and that the repository lacks. */
export async function labelIssue(github: Github, number: number, label: string, on: boolean): Promise<void> {
  const url = github.url(`${issuePath(number)}/labels`)
  if (on) await github.api.send({ method: 'POST', url, body: { labels: [label] } })
  else await removeLabel(github.api, `${url}/${part(label)}`)
}

async function removeLabel(api: ForgeApi, url: string): Promise<void> {
  try {
    await api.send({ method: 'DELETE', url })
  } catch (error) {
    const wasGone = error instanceof ForgeError && error.code === 'not_found'
    if (!wasGone || !error.message.includes('Label does not exist')) throw error
  }
}
