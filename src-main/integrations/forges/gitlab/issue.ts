import { parseAnswer } from '../parse-answer.ts'
import { label as forge, type GitlabProject } from './gitlab-api.ts'
import { whileNotArchived, writeUrl } from './project.ts'
import { GitlabIssue } from './shapes.ts'

export async function readIssue({ api, url }: GitlabProject, number: number) {
  const { state, labels } = parseAnswer(GitlabIssue, (await api.send({ url: `${url}/issues/${number}` })).json, forge)
  return { state: state === 'closed' ? 'closed' : 'open', labels } as const
}

export async function closeIssue(project: GitlabProject, number: number): Promise<void> {
  const { state } = await readIssue(project, number)
  if (state !== 'closed') await change(project, number, { state_event: 'close' })
}

/** GitLab makes a label that it doesn't have. */
export async function labelIssue(project: GitlabProject, number: number, name: string, isOn: boolean): Promise<void> {
  const { labels } = await readIssue(project, number)
  const same = labels.find((label) => label.toLowerCase() === name.toLowerCase())
  if (isOn && same === undefined) await change(project, number, { add_labels: name })
  else if (!isOn && same !== undefined) await change(project, number, { remove_labels: same })
}

async function change(project: GitlabProject, number: number, body: object): Promise<void> {
  const url = `${await writeUrl(project)}/issues/${number}`
  await whileNotArchived(project, () => project.api.send({ method: 'PUT', url, body }))
}
